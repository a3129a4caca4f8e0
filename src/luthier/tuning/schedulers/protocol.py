"""The contract of a scheduler: whether a trial goes on, and which of those that wait does."""

from __future__ import annotations

from typing import Literal, Protocol

__all__ = ["Decision", "Scheduler"]

Decision = Literal["go", "pause", "stop"]


class Scheduler(Protocol):
    """Trials are known by their numbers, and how far they are by the share of their full training."""

    def report(self, number: int, progress: float, score: float) -> Decision:
        """A trial waits for the answer."""

    def resumable(self) -> int | None:
        """A paused trial that is worth going on with now, the most advanced first; it counts as running then."""

    def ended(self, number: int) -> None:
        """It will report no more."""
