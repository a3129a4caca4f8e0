"""What a second worker brings, and what a study itself costs, in time and in memory.

`python -m benchmarks.workers`, or with another number of rounds behind it.

Rounds of one worker and of two alternate; a round's trials are LeNet-5 on the digits, each to its end, and its time
runs from the first epoch's end to the last. Others may use the machine meanwhile: so the load and a trial's CPU time
stand beside each round. Where the load is above the cores, one worker and two compete with others in different numbers.

The overhead is the time in which the study decides and writes, as a share of its trials' time. How it and the memory
grow with the number of trials is measured without training: the same entries, told to the study's state and searcher.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
import tempfile
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.peers import machine
from luthier.recipe import Recipe, load
from luthier.tuning import tune
from luthier.tuning.folder import open_folder
from luthier.tuning.records import Asked, Closed, Cost, Costed, Ended, Plan, Reported
from luthier.tuning.state import StudyState

ROUNDS = 3
TRIALS = 8
EPOCHS = 12
COUNTS = (100, 300, 1000, 3000)


@dataclass(frozen=True, kw_only=True)
class Round:
    """Of one worker or of two."""

    wall_s: float  # a trial
    cpu_s: float  # of all workers, a trial
    overhead: float  # share of the trials' time
    trial_s: float  # that a trial took its worker
    load: float  # of the machine, beside it


def quick() -> Recipe:
    space = 'space={"strategy.learning_rate" = {log = [0.005, 0.05]}}'
    return load("lenet5-digits", [f"strategy.epochs={EPOCHS}", "score.runs=5", space])


def measured(workers: int, folder: Path) -> Round:
    """Workers are children: their CPU time is known once they have ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = {"searcher": "tpe", "scheduler": "none", "seeds": 0, "ablate": False}
    tune(quick(), out=folder, trials=TRIALS, workers=workers, **options)  # type: ignore[arg-type]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    entries = list(open_folder(folder).entries())
    reports = [entry for entry in entries if isinstance(entry, Reported)]
    closed = next(entry for entry in entries if isinstance(entry, Closed))
    spent = sum(report.seconds for report in reports)
    return Round(
        wall_s=(reports[-1].at - reports[0].at) / TRIALS,
        cpu_s=(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / TRIALS,
        overhead=closed.overhead_s / spent,
        trial_s=spent / TRIALS,
        load=os.getloadavg()[0],
    )


def compared(count: int) -> None:
    rounds: dict[int, list[Round]] = {1: [], 2: []}
    print("| round | workers | s a trial | CPU s a trial | load |\n| ---: | ---: | ---: | ---: | ---: |")
    for number in range(1, count + 1):
        for workers in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                one = measured(workers, Path(folder) / "study")
            rounds[workers].append(one)
            print(f"| {number} | {workers} | {one.wall_s:.2f} | {one.cpu_s:.2f} | {one.load:.1f} |", flush=True)
    ratios = [one.wall_s / two.wall_s for one, two in zip(rounds[1], rounds[2], strict=True)]
    more = [two.cpu_s / one.cpu_s for one, two in zip(rounds[1], rounds[2], strict=True)]
    busy = [two.trial_s / (2 * two.wall_s) for two in rounds[2]]
    share = median(one.overhead for both in rounds.values() for one in both)
    print(f"\ntwo workers: {median(ratios):.2f} times the trials of one, each pair of rounds {shown(ratios)}")
    print(f"a trial takes {median(more):.2f} times the CPU time beside another; workers train {median(busy):.0%} of it")
    print(f"overhead {share:.2%} of the trials' time, with trials of {rounds[1][0].trial_s:.1f} s")


def shown(numbers: list[float]) -> str:
    return ", ".join(f"{number:.2f}" for number in numbers)


def told(state: StudyState, number: int) -> float:
    """Everything that a trial makes a study do but the training and the writing; the seconds of it."""
    assert state.searcher is not None
    began = perf_counter()
    values = state.searcher.ask(number)
    assert values is not None
    state.apply(Asked(at=0, trial=number, values=values))
    state.apply(Costed(at=0, trial=number, cost=Cost(parameters=1, size_mb=0.2, latency_ms=0.1)))
    for epoch in range(1, EPOCHS + 1):
        accuracy = 50 + (number * 7919 % 997) / 20 + epoch / EPOCHS
        report = Reported(
            at=0, trial=number, epoch=epoch, epochs=EPOCHS, steps=epoch, accuracy=accuracy, loss=1, seconds=1
        )
        if state.apply(report) != "go":
            break
    else:
        state.apply(Ended(at=0, trial=number, state="finished"))
    return perf_counter() - began


def growth() -> None:
    state = StudyState(quick(), Plan(searcher="tpe", scheduler="halving"))
    tracemalloc.start()
    seconds: list[float] = []
    print("\n| trials | s to decide on one | memory (MB) |\n| ---: | ---: | ---: |")
    for count in COUNTS:
        while len(seconds) < count:
            seconds.append(told(state, len(seconds)))
        gc.collect()
        used = tracemalloc.get_traced_memory()[0] / 1e6
        print(f"| {count:,} | {median(seconds[-50:]):.3f} | {used:.1f} |", flush=True)


def main(rounds: str = str(ROUNDS)) -> None:
    compared(int(rounds))
    growth()
    print(f"\nMedians of {rounds} rounds of {TRIALS} trials. {machine('optuna')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
