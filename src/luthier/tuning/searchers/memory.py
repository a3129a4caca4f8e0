"""What a searcher remembers: the latest trials and the best, so that memory and time do not grow with their number."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from luthier.tuning.searchers.protocol import Observation
from luthier.tuning.space import Space, Values

__all__ = ["Memory"]

KEPT = 600
DRAWS = 100  # in search of something that was not tried


class Memory:
    """Observations by number; of too many the worst of the older ones are forgotten."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self.trials: dict[int, Observation] = {}
        self.history: dict[int, dict[float, float]] = {}  # of each the scores on its way

    def report(self, number: int, progress: float, score: float) -> None:
        """How a trial stands on its way."""
        known = self.trials.get(number)
        if known is not None and not known.done:
            self.trials[number] = replace(known, progress=progress, score=score)
            self.history.setdefault(number, {})[progress] = score

    def tell(self, number: int, observation: Observation) -> None:
        """What came of a trial."""
        self.trials[number] = observation
        if observation.done and observation.score is not None and observation.progress:
            self.history.setdefault(number, {})[observation.progress] = observation.score
        if len(self.trials) > self._kept:
            self._forget()

    def untried(self, space: Space, values: Values, random: Random) -> Values | None:
        """The values, or others where they were tried: the same training again tells nothing. None once all were."""
        tried = {_key(item.values) for item in self.trials.values()}
        for _ in range(DRAWS):
            if _key(values) not in tried:
                return values
            values = space.draw(random)
        if any(item.choice is None for item in space.ranges.values()):
            return values
        left = [other for other in space.grid() if _key(other) not in tried]
        return random.choice(left) if left else None

    def _forget(self) -> None:
        """A tenth at once: the oldest half's worst, never one that is under way."""
        old = sorted(self.trials)[: self._kept // 2]
        ended = [number for number in old if self.trials[number].score is not None]
        worst = sorted(ended, key=lambda number: self.trials[number].score or 0.0)[: max(1, self._kept // 10)]
        for number in worst or old[:1]:
            del self.trials[number]
            self.history.pop(number, None)


def _key(values: Values) -> str:
    return repr(sorted(values.items()))
