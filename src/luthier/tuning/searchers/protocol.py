"""The contract of a searcher: what to try next, given what came of all that was tried."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from luthier.tuning.space import Values

__all__ = ["Observation", "Searcher"]


class Observation(Struct, frozen=True, kw_only=True):
    """What is known of a trial."""

    values: Values
    progress: float = 0.0  # the share of its full training that it has come
    score: float | None = None  # there; none before the first report
    objectives: tuple[float, ...] = ()  # the more the better, each; where there are several
    done: bool = False  # it came to its end, or is as bad as its score says
    violation: float = 0.0  # by how much it misses a constraint


class Searcher(Protocol):
    """Nothing but what it was told and its seed decide what it asks for next: a study that goes on asks the same."""

    def ask(self, number: int) -> Values | None:
        """What trial `number` is to try; none once all was tried."""

    def report(self, number: int, progress: float, score: float) -> None:
        """How a trial stands on its way."""

    def tell(self, number: int, observation: Observation) -> None:
        """What came of a trial, or what it is that has just begun."""
