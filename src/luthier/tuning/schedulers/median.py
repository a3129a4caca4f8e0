"""Stop whoever is worse than the median of the others at the same point; or nobody."""

from __future__ import annotations

from statistics import median

from luthier.tuning.schedulers.protocol import Decision

__all__ = ["MedianStopping", "RunAll"]

GRACE = 0.1  # of a full training, before which nobody is judged
LEAST = 4  # others that reached the point
POINTS = 50  # at which trials are compared: reports in between count for the point before


class MedianStopping:
    """A trial whose best score so far is below the median of the others' at that point has no good prospects."""

    def __init__(self, grace: float = GRACE, least: int = LEAST) -> None:
        self._grace, self._least = grace, least
        self._at: dict[int, dict[int, float]] = {}  # point → number → its best up to there
        self._best: dict[int, float] = {}

    def report(self, number: int, progress: float, score: float) -> Decision:
        """The others are those that came as far."""
        best = self._best[number] = max(score, self._best.get(number, score))
        point = int(progress * POINTS)
        others = [value for other, value in self._at.get(point, {}).items() if other != number]
        self._at.setdefault(point, {})[number] = best
        if progress < self._grace or len(others) < self._least or progress >= 1:
            return "go"
        return "stop" if best < median(others) else "go"

    def resumable(self) -> int | None:
        """Nobody waits."""
        return None

    def ended(self, number: int) -> None:
        """What it reached stays."""
        self._best.pop(number, None)


class RunAll:
    """Every trial to its end."""

    def report(self, number: int, progress: float, score: float) -> Decision:
        """Go on."""
        return "go"

    def resumable(self) -> int | None:
        """Nobody waits."""
        return None

    def ended(self, number: int) -> None:
        """Nothing is kept of it."""
