"""Search by replay: at equal trial time, what each way of searching has found, over ten seeds, on recorded curves.

`python -m benchmarks.replay`, with other tasks than all or with more seeds: `python -m benchmarks.replay mnist 50`.
Medians of ten seeds differ by some tenths from those of the next ten; whoever decides by them decides by chance.

Contenders see the same 288 trials epoch by epoch on two simulated workers: Luthier's
defaults (TPE with halving that pauses), Optuna's TPE with its median pruner, and Ray Tune's ASHA, which searches at
random; the last two are the libraries' own code. The score is the recipe's, on the validation part; the time is the
share of what training all trials to their end would take.
"""

from __future__ import annotations

import heapq
import json
import statistics
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from benchmarks.peers import machine
from benchmarks.record_curves import CURVES, recipe
from luthier.measure import score
from luthier.tuning import Observation, Space, Values, make_scheduler, make_searcher

WORKERS = 2
SEEDS = 10
SHARES = (0.03, 0.06, 0.12)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A recorded trial: its score and its seconds, epoch by epoch."""

    scores: tuple[float, ...]
    seconds: tuple[float, ...]
    epochs: int


class Contender(Protocol):
    """Asked for trials, told of epochs; what it answers is whether the trial goes on."""

    def ask(self, number: int) -> Values: ...

    def resumed(self) -> int | None: ...

    def report(self, number: int, epoch: int, epochs: int, score: float) -> str: ...

    def end(self, number: int, score: float | None) -> None: ...


def key(values: Values) -> str:
    return json.dumps(sorted(values.items()))


def load(task: str) -> dict[str, Curve]:
    """By values. An epoch costs what epochs of such a network and batch took in the median: machines are shared."""
    trials = json.loads((CURVES / f"{task}.json").read_text())["trials"]
    kinds: dict[str, list[float]] = {}
    for trial in trials:
        kinds.setdefault(_kind(trial), []).extend(trial["seconds"])
    overall = statistics.median(second for seconds in kinds.values() for second in seconds)
    epochs = max(len(trial["accuracy"]) for trial in trials)
    curves = {}
    for trial in trials:
        second = statistics.median(kinds[_kind(trial)]) if kinds[_kind(trial)] else overall
        size, latency = trial["size_mb"] or 0.0, trial["latency_ms"] or 0.0
        scores = tuple(score(accuracy, size, latency) for accuracy in trial["accuracy"])
        length = len(scores) + (1 if trial["failed"] else 0)  # an epoch is spent until the loss is not finite
        curves[key(trial["values"])] = Curve(scores=scores, seconds=(second,) * length, epochs=epochs)
    return curves


def _kind(trial: dict[str, Any]) -> str:
    return f"{trial['values']['model.options.width']}/{trial['values']['data.batch_size']}"


def replayed(contender: Contender, curves: dict[str, Curve], budgets: list[float]) -> list[float]:
    """The best score that any trial has shown by each of the budgets, in seconds of all workers together."""
    running: list[tuple[float, int, int]] = []  # when an epoch ends, of which trial, on which worker
    trials: dict[int, tuple[Curve, int]] = {}
    best, number = -1e9, 0
    found: list[float] = []
    free = [(0.0, worker) for worker in range(WORKERS)]
    while len(found) < len(budgets):
        while free:
            now, worker = free.pop()
            chosen = contender.resumed()
            if chosen is None:
                number += 1
                chosen = number
                values = contender.ask(chosen)
                trials[chosen] = (curves.get(key(values)) or _nearest(values, curves), 0)
            curve, epoch = trials[chosen]
            heapq.heappush(running, (now + curve.seconds[epoch], chosen, worker))
        now, trial, worker = heapq.heappop(running)
        while len(found) < len(budgets) and now * WORKERS > budgets[len(found)]:
            found.append(best)
        curve, epoch = trials[trial]
        epoch += 1
        trials[trial] = (curve, epoch)
        if epoch > len(curve.scores):
            contender.end(trial, None)
            free.append((now, worker))
            continue
        best = max(best, curve.scores[epoch - 1])
        decision = contender.report(trial, epoch, curve.epochs, curve.scores[epoch - 1])
        if epoch == curve.epochs:
            contender.end(trial, curve.scores[-1])
        if decision == "go" and epoch < curve.epochs:
            heapq.heappush(running, (now + curve.seconds[min(epoch, len(curve.seconds) - 1)], trial, worker))
        else:
            free.append((now, worker))
    return found


def _nearest(values: Values, curves: dict[str, Curve]) -> Curve:
    """Where the recording is not complete: the trial that differs in the fewest fields."""
    wanted = {key({name: value}) for name, value in values.items()}
    return max(
        curves.items(),
        key=lambda item: len(wanted & {key({name: value}) for name, value in json.loads(item[0])}),
    )[1]


class Ours:
    """Luthier's searcher and scheduler, as a study uses them."""

    def __init__(self, space: Space, seed: int, searcher: str = "tpe", scheduler: str = "halving") -> None:
        self._searcher, self._scheduler = make_searcher(searcher, space, seed), make_scheduler(scheduler)
        self._values: dict[int, Values] = {}
        self._worst = 0.0

    def ask(self, number: int) -> Values:
        values = self._searcher.ask(number) or self._values[1]  # again, once all was tried
        self._values[number] = values
        self._searcher.tell(number, Observation(values=values))
        return values

    def resumed(self) -> int | None:
        return self._scheduler.resumable()

    def report(self, number: int, epoch: int, epochs: int, score: float) -> str:
        self._worst = min(self._worst, score)
        self._searcher.report(number, epoch / epochs, score)
        return self._scheduler.report(number, epoch / epochs, score)

    def end(self, number: int, score: float | None) -> None:
        shown = self._worst - 1 if score is None else score
        self._searcher.tell(number, Observation(values=self._values[number], progress=1.0, score=shown, done=True))
        self._scheduler.ended(number)


class OptunaMedian:
    """Optuna's own TPE, median pruner and bookkeeping, at its defaults."""

    def __init__(self, space: Space, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna, self._space = optuna, space
        self._study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.MedianPruner(),
        )
        self._trials: dict[int, Any] = {}

    def ask(self, number: int) -> Values:
        trial = self._trials[number] = self._study.ask()
        ranges = self._space.ranges
        return {path: trial.suggest_categorical(path, list(ranges[path].choice or ())) for path in self._space.order}

    def resumed(self) -> int | None:
        return None

    def report(self, number: int, epoch: int, epochs: int, score: float) -> str:
        trial = self._trials[number]
        trial.report(score, epoch)
        if epoch < epochs and trial.should_prune():
            self._study.tell(trial, state=self._optuna.trial.TrialState.PRUNED)
            return "stop"
        return "go"

    def end(self, number: int, score: float | None) -> None:
        states = self._optuna.trial.TrialState
        if score is None:
            self._study.tell(self._trials[number], state=states.FAIL)
        else:
            self._study.tell(self._trials[number], score)


class RayAsha:
    """Ray Tune's asynchronous halving, over trials drawn at random."""

    def __init__(self, space: Space, seed: int) -> None:
        from ray.tune.schedulers import AsyncHyperBandScheduler

        self._space, self._random = space, Random(seed)
        self._asha = AsyncHyperBandScheduler(
            time_attr="epoch", metric="score", mode="max", max_t=9, grace_period=1, reduction_factor=3
        )
        self._trials: dict[int, Any] = {}

    def ask(self, number: int) -> Values:
        from types import SimpleNamespace

        self._trials[number] = SimpleNamespace(trial_id=str(number))
        self._asha.on_trial_add(None, self._trials[number])  # type: ignore[arg-type]
        return self._space.draw(self._random)

    def resumed(self) -> int | None:
        return None

    def report(self, number: int, epoch: int, epochs: int, score: float) -> str:
        if epoch == epochs:
            return "go"
        result = {"epoch": epoch, "score": score}
        decision = self._asha.on_trial_result(None, self._trials[number], result)  # type: ignore[arg-type]
        return "go" if decision == self._asha.CONTINUE else "stop"

    def end(self, number: int, score: float | None) -> None:
        if score is not None:
            result = {"epoch": 9, "score": score}
            self._asha.on_trial_complete(None, self._trials[number], result)  # type: ignore[arg-type]


CONTENDERS: dict[str, Callable[[Space, int], Contender]] = {
    "Luthier (TPE, halving with pauses)": Ours,
    "Luthier (random, halving with pauses)": lambda space, seed: Ours(space, seed, "random"),
    "Optuna TPE, median pruner": OptunaMedian,
    "Ray Tune ASHA, at random": RayAsha,
}


def main(*arguments: str) -> None:
    warnings.simplefilter("ignore")
    tasks = [argument for argument in arguments if not argument.isdigit()]
    seeds = range(next((int(argument) for argument in arguments if argument.isdigit()), SEEDS))
    for task in tasks or [path.stem for path in sorted(CURVES.glob("*.json"))]:
        curves, space = load(task), Space(recipe(task).space)
        whole = sum(sum(curve.seconds) for curve in curves.values())
        best = max(score for curve in curves.values() for score in curve.scores)
        print(f"\n{task}: {len(curves)} trials, {whole:,.0f} s altogether; the best score of all is {best:.2f}\n")
        print("| contender | " + " | ".join(f"{share:.0%} of the time" for share in SHARES) + " |")
        print("| --- |" + " ---: |" * len(SHARES))
        for name, make in CONTENDERS.items():
            try:
                found = [replayed(make(space, seed), curves, [share * whole for share in SHARES]) for seed in seeds]
            except ImportError as error:
                print(f"| {name} | not installed: {error.name or error} |" + " |" * (len(SHARES) - 1))
                continue
            medians = [statistics.median(column) for column in zip(*found, strict=True)]
            print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in medians) + " |")
    print(f"\nMedian over {len(seeds)} seeds of the best validation score, {WORKERS} workers. {machine('optuna')}")


if __name__ == "__main__":
    main(*sys.argv[1:])
