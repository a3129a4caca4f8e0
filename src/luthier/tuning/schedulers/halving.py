"""Successive halving without waiting: at each rung a third goes on, and who was paused may be called later."""

from __future__ import annotations

from collections.abc import Sequence

from luthier.tuning.schedulers.protocol import Decision

__all__ = ["Halving", "Hyperband"]

FACTOR = 3
COMPARED = 2  # trials at a rung, before which none goes on from it: the first to come may be anything
RUNGS = (1 / 27, 1 / 9, 1 / 3)
TINY = 1e-9


class Halving:
    """A trial that reaches a rung goes on if it is in the best third there, and else is paused, not thrown away.

    As more trials come, the best third of a rung grows: then a paused one goes on from its checkpoint. The better of
    the first two is always allowed. Number 0, the recipe itself, is compared with but never paused.
    """

    def __init__(self, rungs: Sequence[float] = RUNGS, factor: int = FACTOR, compared: int = COMPARED) -> None:
        self._compared = compared
        self._rungs, self._factor = tuple(rungs), factor
        self._scores: list[dict[int, float]] = [{} for _ in rungs]  # of whoever reached the rung
        self._paused: dict[int, int] = {}  # number → the rung that it waits at
        self._next: dict[int, int] = {}  # number → the rung that it is on its way to

    def report(self, number: int, progress: float, score: float) -> Decision:
        """Several rungs may lie between two reports: the highest counts."""
        reached = sum(1 for rung in self._rungs if progress >= rung - TINY)
        before = self._next.get(number, 0)
        if reached <= before or progress >= 1 - TINY:
            return "go"
        for rung in range(before, reached):
            self._scores[rung][number] = score
        self._next[number] = reached
        if number == 0 or self._promoted(number, reached - 1):
            return "go"
        self._paused[number] = reached - 1
        return "pause"

    def resumable(self) -> int | None:
        """From the highest rung down, the best there."""
        for rung in reversed(range(len(self._rungs))):
            waiting = [number for number, at in self._paused.items() if at == rung]
            waiting = [number for number in waiting if self._promoted(number, rung)]
            if waiting:
                best = max(waiting, key=lambda number: self._scores[rung][number])
                del self._paused[best]
                return best
        return None

    def ended(self, number: int) -> None:
        """Its scores stay: they are what others are measured by."""
        self._paused.pop(number, None)
        self._next.pop(number, None)

    def _promoted(self, number: int, rung: int) -> bool:
        scores = self._scores[rung]
        allowed = max(len(scores) >= self._compared, len(scores) // self._factor)
        better = sum(1 for score in scores.values() if score > scores[number])
        return better < allowed


class Hyperband:
    """Brackets of halving, some of which begin to judge later: what learns late has a chance.

    A bracket may see few trials, so that its first one is always allowed.
    """

    def __init__(self, rungs: Sequence[float] = RUNGS, factor: int = FACTOR) -> None:
        self._brackets = [Halving(rungs[first:], factor, compared=1) for first in range(len(rungs))]
        shares = [factor ** (len(rungs) - index) for index in range(len(rungs))]
        self._turn = [index for index, share in enumerate(shares) for _ in range(share // factor)]

    def _bracket(self, number: int) -> Halving:
        return self._brackets[self._turn[number * 7 % len(self._turn)]]  # 7: the brackets come mixed

    def report(self, number: int, progress: float, score: float) -> Decision:
        """By its own bracket."""
        return self._bracket(number).report(number, progress, score)

    def resumable(self) -> int | None:
        """From whichever bracket has one."""
        found = (bracket.resumable() for bracket in self._brackets)
        return next((number for number in found if number is not None), None)

    def ended(self, number: int) -> None:
        """In its own bracket."""
        self._bracket(number).ended(number)
