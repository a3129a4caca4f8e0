"""The selector against a grid over the same lists: what it costs, and how far its full training is from the best.

`python -m benchmarks.selector` on the digits; `python -m benchmarks.selector mnist` needs LUTHIER_DATA, and hours.

The selector should take at most a tenth of one full training, and its settings' full training should come within half a
point of accuracy of the grid's best. The grid is fully trained with one seed, and the best of it with all; so are the
selector's settings; they are judged by the mean on the evaluation set. What was trained is kept in `.cache/selector`
and not trained again: a run that was broken off goes on. A selection is timed, in wall and in CPU time, beside a full
training of the recipe itself.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.peers import ROOT, machine
from luthier.errors import TrainingError
from luthier.recipe import ParamSpec, Recipe, load
from luthier.training import train
from luthier.tuning import Selection, select

CACHE = ROOT / ".cache" / "selector"
QUIET = ["record.histograms=false", "record.images=0", "checkpoint.every_epochs=1000", "record.every_steps=1000"]
TASKS: dict[str, tuple[str, list[str]]] = {
    "digits": ("lenet5-digits", ["strategy.epochs=150", "record.evaluate_every_epochs=0"]),
    "mnist": ("lenet5-mnist", ["record.evaluate_every_epochs=0"]),
}
RATE = "strategy.learning_rate"
LISTS: dict[str, list[float]] = {
    RATE: [0.01, 0.03, 0.1],
    "strategy.optimizer.momentum": [0.8, 0.95],
    "strategy.optimizer.weight_decay": [0.0, 1e-3],
}
SEEDS = (1, 2)
LEADING = 3  # of the grid, that are trained with all seeds
ROUNDS = 3  # selections, each by another seed, beside a full training each


class Clock:
    """Seconds in wall and in CPU time since it was made."""

    def __init__(self) -> None:
        self._began, self._cpu_began = perf_counter(), process_time()

    def times(self) -> tuple[float, float]:
        return perf_counter() - self._began, process_time() - self._cpu_began


class Trainings:
    """Full trainings by their settings and seed, each done once."""

    def __init__(self, task: str) -> None:
        self.name, self.quiet = TASKS[task]
        self.path = CACHE / f"{task}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, float] = json.loads(self.path.read_text()) if self.path.exists() else {}

    def recipe(self, values: dict[str, float], seed: int) -> Recipe:
        spec = ParamSpec({**values, "strategy.seed": seed})
        return load(self.name, [*QUIET, *self.quiet, *spec.overrides()])

    def train(self, values: dict[str, float], seed: int) -> float:
        """Accuracy on the evaluation set, which nothing else looks at; none of it where the training diverges."""
        with tempfile.TemporaryDirectory() as out:
            try:
                result = train(self.recipe(values, seed), out=Path(out)).result()
            except TrainingError:
                return 0.0
        assert result is not None
        assert result.accuracy is not None
        return result.accuracy

    def mean(self, values: dict[str, float], seeds: tuple[int, ...] = SEEDS) -> float:
        for seed in seeds:
            key = json.dumps([sorted(values.items()), seed])
            if key not in self.known:
                self.known[key] = self.train(values, seed)
                self.path.write_text(json.dumps(self.known, indent=0))
        return statistics.mean(self.known[json.dumps([sorted(values.items()), seed])] for seed in seeds)


def selected(trainings: Trainings, seed: int) -> tuple[Selection, tuple[float, float], tuple[float, float]]:
    """A selection and what it took; then what one full training of the recipe takes."""
    recipe, clock = trainings.recipe({}, seed), Clock()
    selection = select(recipe, param_list_spec=ParamSpec(dict(LISTS)))
    spent, clock = clock.times(), Clock()
    trainings.train({}, seed)
    return selection, spent, clock.times()


def main(task: str = "digits") -> None:
    trainings = Trainings(task)
    with tempfile.TemporaryDirectory() as out:  # imports what both need
        train(load("lenet5-digits", ["strategy.steps=1", *QUIET]), out=Path(out))
    selections = [selected(trainings, seed) for seed in range(1, ROUNDS + 1)]
    shares = [[one / full for one, full in zip(spent, whole, strict=True)] for _, spent, whole in selections]
    for (selection, (seconds, _), (whole, _)), (wall, cpu) in zip(selections, shares, strict=True):
        steps = f"{selection.steps:,} steps"
        print(f"selected {selection.values}: {steps}, {seconds:.1f} s, a full training {whole:.1f} s", flush=True)
        print(f"  {wall:.1%} of its wall time, {cpu:.1%} of its CPU time", flush=True)
    grid = []
    for values in (dict(zip(LISTS, combination, strict=True)) for combination in product(*LISTS.values())):
        grid.append((trainings.mean(values, SEEDS[:1]), values))
        print(f"grid {values}: {grid[-1][0]:.2f} %", flush=True)
    leading = sorted(grid, key=lambda item: -item[0])[:LEADING]
    best, of = max(((trainings.mean(values), values) for _, values in leading), key=lambda item: item[0])
    found = [trainings.mean(selection.values) for selection, _, _ in selections]
    wall, cpu = (statistics.median(column) for column in zip(*shares, strict=True))
    told = ", ".join(f"{accuracy:.2f}" for accuracy in found)
    print(f"\n{task}: the best of {len(grid)} settings has {best:.2f} % ({of}); the selections' have {told} %")
    apart = statistics.median(found) - best
    print(f"median: {apart:+.2f} points, {wall:.1%} of a full training's wall time, {cpu:.1%} of its CPU time")
    print(f"Accuracies are means over {len(SEEDS)} seeds. {machine()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
