"""Several processes that train one network together: what they must tell one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, SupportsFloat

import numpy as np
from numpy.typing import NDArray

__all__ = ["Alone", "Group", "JointLoss", "not_finite"]


class Group(Protocol):
    """Gradients are summed by the sessions, in their framework's own way; the rest goes through here."""

    rank: int
    ranks: int
    backend: str | None  # none where there is nobody to talk to
    asks_to_stop: bool  # this rank's wish, which its next step tells the others
    stop_was_asked: bool  # by some rank, as of the latest step: the same on every one of them

    def gather(self, payload: bytes) -> list[bytes]:
        """What every rank gives, in their order; each waits for all."""

    def fail(self, sentence: str) -> None:
        """Tell the others, where that is possible, why this rank leaves."""

    def close(self) -> None:
        """Leave."""


class Alone:
    """One process, which is every rank that there is."""

    rank, ranks = 0, 1
    backend: str | None = None
    asks_to_stop = stop_was_asked = False

    def gather(self, payload: bytes) -> list[bytes]:
        """Its own."""
        return [payload]

    def fail(self, sentence: str) -> None:
        """Nobody would hear it."""

    def close(self) -> None:
        """Nothing was opened."""


class JointLoss:
    """The mean of all ranks' losses, which is the loss of their joint batch; lazy, as any loss is."""

    def __init__(self, read: Callable[[], NDArray[np.float32]]) -> None:
        self._read = read

    def __float__(self) -> float:
        return float(self._read().astype(np.float64).mean())

    @property
    def not_finite(self) -> tuple[int, ...]:
        """The ranks whose own loss is not."""
        return tuple(np.flatnonzero(~np.isfinite(self._read())).tolist())


def not_finite(loss: SupportsFloat) -> tuple[int, ...]:
    """The ranks that are to blame for a loss, where there are several."""
    return loss.not_finite if isinstance(loss, JointLoss) else ()
