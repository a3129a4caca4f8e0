"""Searchers that need no library: at random, all of a grid, and one field after the other."""

from __future__ import annotations

from itertools import islice
from random import Random

from luthier.tuning.searchers.memory import Memory
from luthier.tuning.searchers.protocol import Observation
from luthier.tuning.space import Space, Values, listed

__all__ = ["GridSearcher", "OneAtATime", "RandomSearcher"]


class RandomSearcher:
    """Each trial by itself."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed

    def ask(self, number: int) -> Values | None:
        """By the seed and the number alone."""
        return self._space.draw(Random(f"{self._seed}/{number}"))

    def report(self, number: int, progress: float, score: float) -> None:
        """Chance does not listen."""

    def tell(self, number: int, observation: Observation) -> None:
        """Nor here."""


class GridSearcher:
    """Every combination once, in an order of its own, so that a grid that is broken off was not one-sided."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed
        self._first: int | None = None
        self._order: list[int] = []

    def ask(self, number: int) -> Values | None:
        """The trial after the last one takes the next combination."""
        if not self._order:
            self._order = list(range(sum(1 for _ in self._space.grid())))
            Random(self._seed).shuffle(self._order)
        at = number - 1  # trial 0 is the recipe itself
        if at >= len(self._order):
            return None
        return next(islice(self._space.grid(), self._order[at], None))

    def report(self, number: int, progress: float, score: float) -> None:
        """A grid has no second thoughts."""

    def tell(self, number: int, observation: Observation) -> None:
        """Nor here."""


class OneAtATime(Memory):
    """From the best so far one field takes each of its values, then the next field does: MoXing's way through lists."""

    def __init__(self, space: Space, seed: int) -> None:
        super().__init__()
        self._space, self._seed = space, seed

    def ask(self, number: int) -> Values | None:
        """The first change that was not tried yet; once all were, none."""
        tried = {repr(sorted(item.values.items())) for item in self.trials.values()}
        best = self._best()
        for path in self._space.order:
            if not self._space.wants(path, best):
                continue
            for value in listed(self._space.ranges[path], 4):
                made = self._fitting({**best, path: value})
                if repr(sorted(made.items())) not in tried:
                    return made
        return None

    def _best(self) -> Values:
        known = [item for item in self.trials.values() if item.score is not None]
        found = max(known, key=lambda item: (item.violation <= 0, item.score), default=None)
        return self._fitting(dict(found.values) if found else {})

    def _fitting(self, values: Values) -> Values:
        """What does not apply is left out, and what is missing drawn."""
        made: Values = {}
        spare = self._space.draw(Random(self._seed))
        for path in self._space.order:
            if self._space.wants(path, made):
                made[path] = values.get(path, spare.get(path, listed(self._space.ranges[path])[0]))
        return made
