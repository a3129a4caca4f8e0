"""Optuna's samplers, given all that is known anew each time: what they ask follows from that and the seed alone."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from luthier.errors import MissingPackage
from luthier.recipe import Range
from luthier.tuning.searchers.memory import Memory
from luthier.tuning.searchers.protocol import Observation
from luthier.tuning.space import Space, Values

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial, Trial

__all__ = ["OptunaSearcher"]

Kind = Literal["tpe", "gp", "nsga2"]

POPULATION = 20
GENERATION = "NSGAIISampler:generation"
RANDOM_FIRST = {"tpe": 20, "gp": 10, "nsga2": 10}  # trials before the model has a word
CHANCE = 3  # with TPE every third trial is drawn at random all the same: its model has been wrong before


class OptunaSearcher(Memory):
    """TPE, a Gaussian process, or NSGA-II."""

    def __init__(self, space: Space, seed: int, *, kind: Kind = "tpe", objectives: int = 1) -> None:
        super().__init__()
        self._space, self._seed, self._kind, self._objectives = space, seed, kind, objectives
        _optuna()

    def ask(self, number: int) -> Values | None:
        """A study of Optuna's is made of what is remembered, and asked once."""
        random = Random(f"{self._seed}/{number}")
        if self._kind == "tpe" and number % CHANCE == 0:
            return self.untried(self._space, self._space.draw(random), random)
        optuna = _optuna()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = self._sampler((self._seed * 100_003 + number) % 2**32)
            study = optuna.create_study(directions=["maximize"] * self._objectives, sampler=sampler)
            study.add_trials([self._frozen(*item) for item in self._comparable()])
            values = self._suggested(study.ask())
        if self._kind == "nsga2":  # a generation takes some over as they are
            return values
        return self.untried(self._space, values, random)

    def _comparable(self) -> list[tuple[int, Observation]]:
        """Scores at the furthest point that enough trials have reached; who was paused before it is worse than those.

        The latest scores of trials that have come differently far would say who was trained longest.
        """
        placed = self._in_order()
        if self._objectives > 1:
            return placed
        level = self._level()
        numbered = zip(sorted(self.trials), placed, strict=True)
        return [(generation, self._at(number, item, level)) for number, (generation, item) in numbered]

    def _level(self) -> float:
        points = sorted({round(point, 4) for history in self.history.values() for point in history}, reverse=True)
        for point in points:
            reached = sum(1 for history in self.history.values() if max(history) >= point - 1e-4)
            if reached >= RANDOM_FIRST[self._kind] // 2:
                return point
        return 1.0

    def _at(self, number: int, item: Observation, level: float) -> Observation:
        reached = {point: score for point, score in self.history.get(number, {}).items() if point >= level - 1e-4}
        if not reached:
            return item
        return replace(item, score=reached[min(reached)], done=True)

    def _in_order(self) -> list[tuple[int, Observation]]:
        """A generation of NSGA-II is made of what came to its end: the trial's place among those says which."""
        ended = 0
        placed = []
        for number in sorted(self.trials):
            item = self.trials[number]
            placed.append((ended // POPULATION, item))
            ended += self._counts(item)
        return placed

    def _counts(self, item: Observation) -> bool:
        return item.done and (self._objectives == 1 or len(item.objectives) == self._objectives)

    def _sampler(self, seed: int) -> BaseSampler:
        samplers = _optuna().samplers
        makers: dict[str, Callable[[], BaseSampler]] = {
            "tpe": lambda: samplers.TPESampler(
                seed=seed,
                multivariate=True,
                group=True,
                n_startup_trials=RANDOM_FIRST[self._kind],
                constraints_func=_violations,
            ),
            "gp": lambda: samplers.GPSampler(
                seed=seed, n_startup_trials=RANDOM_FIRST[self._kind], constraints_func=_violations
            ),
            "nsga2": lambda: samplers.NSGAIISampler(
                seed=seed, population_size=POPULATION, constraints_func=_violations
            ),
        }
        return makers[self._kind]()

    def _frozen(self, generation: int, item: Observation) -> FrozenTrial:
        optuna = _optuna()
        states, scores = optuna.trial.TrialState, item.objectives or (item.score,)
        params = {path: _told(self._space.ranges[path], value) for path, value in item.values.items()}
        distributions = {path: _distribution(self._space.ranges[path]) for path in params}
        attributes: dict[str, Any] = {"constraints": [item.violation]}
        made: Callable[..., FrozenTrial] = optuna.trial.create_trial
        if self._counts(item) and item.score is not None:
            attributes[GENERATION] = generation
            values = [float(value) for value in scores if value is not None]
            return made(
                state=states.COMPLETE,
                values=values,
                params=params,
                distributions=distributions,
                system_attrs=attributes,
            )
        if item.score is None or self._objectives > 1:
            return made(state=states.RUNNING, params=params, distributions=distributions)
        return made(
            state=states.PRUNED,
            params=params,
            distributions=distributions,
            intermediate_values={1: item.score},
            system_attrs=attributes,
        )

    def _suggested(self, trial: Trial) -> Values:
        values: Values = {}
        for path in self._space.order:
            if not self._space.wants(path, values):
                continue
            item = self._space.ranges[path]
            if item.choice is not None:
                found = trial.suggest_categorical(path, [json.dumps(value) for value in item.choice])
                values[path] = item.choice[[json.dumps(value) for value in item.choice].index(found)]
            elif item.integer:
                values[path] = trial.suggest_int(path, *item.integer)
            else:
                low, high = item.limits
                values[path] = trial.suggest_float(path, low, high, log=item.log is not None)
        return values


def _distribution(item: Range) -> BaseDistribution:
    distributions = _optuna().distributions
    if item.choice is not None:
        return distributions.CategoricalDistribution([json.dumps(value) for value in item.choice])  # type: ignore[no-any-return]
    low, high = item.limits
    if item.integer:
        return distributions.IntDistribution(int(low), int(high))  # type: ignore[no-any-return]
    return distributions.FloatDistribution(low, high, log=item.log is not None)  # type: ignore[no-any-return]


def _told(item: Range, value: Any) -> Any:
    return json.dumps(value) if item.choice is not None else value


def _violations(trial: FrozenTrial) -> tuple[float, ...]:
    found: Mapping[str, Any] = trial.system_attrs
    return tuple(found.get("constraints", (0.0,)))


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingPackage("Optuna, which searches by TPE, GP and NSGA-II, is not installed", hint=INSTALL) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


INSTALL = "pip install 'luthier[tune]', or search without it: --searcher random, grid or selector."
