"""What a second worker brings, and what a study itself costs: the same trials with one worker and with two.

`python -m benchmarks.workers`. Trials are LeNet-5 on the digits, each to its end; the rounds alternate. The overhead is
the time in which the study decides and writes, as a share of the trials' own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.peers import machine
from luthier.recipe import Recipe, load
from luthier.tuning import open_study, tune
from luthier.tuning.folder import open_folder
from luthier.tuning.records import Closed, Reported

ROUNDS = 3
TRIALS = 8


def quick() -> Recipe:
    return load(
        "lenet5-digits",
        ["strategy.epochs=12", "score.runs=5", 'space={"strategy.learning_rate" = {log = [0.005, 0.05]}}'],
    )


def measured(workers: int, folder: Path) -> tuple[float, float]:
    """Seconds from the first epoch's end to the last, a trial; and the overhead's share."""
    tune(quick(), out=folder, trials=TRIALS, workers=workers, searcher="tpe", scheduler="none", seeds=0, ablate=False)
    entries = list(open_folder(folder).entries())
    reports = [entry for entry in entries if isinstance(entry, Reported)]
    closed = next(entry for entry in entries if isinstance(entry, Closed))
    spent = sum(trial.seconds for trial in open_study(folder).trials)
    return (reports[-1].at - reports[0].at) / TRIALS, closed.overhead_s / spent


def main() -> None:
    seconds: dict[int, list[float]] = {1: [], 2: []}
    shares = []
    for _ in range(ROUNDS):
        for workers in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                took, share = measured(workers, Path(folder) / "study")
                seconds[workers].append(took)
                shares.append(share)
    one, two = median(seconds[1]), median(seconds[2])
    print(f"one worker {one:.2f} s a trial, two workers {two:.2f} s: {one / two:.2f} times as many")
    print(f"overhead {median(shares):.2%} of the trials' time, with trials of {one:.1f} s")
    print(f"Medians of {ROUNDS} rounds of {TRIALS} trials. {machine('optuna')}", file=sys.stdout)


if __name__ == "__main__":
    main()
