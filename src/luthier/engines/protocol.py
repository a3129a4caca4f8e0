"""The contract of an engine: a session steps, evaluates, and gives and takes its whole state as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from luthier.data import Batch
from luthier.engines.statistics import Statistics
from luthier.strategy import ParameterInfo

__all__ = ["Arrays", "NonFinite", "Session"]

Arrays = dict[str, NDArray[Any]]


class NonFinite(Exception):
    """A step whose loss was not finite; the weights are still those from before it."""

    def __init__(self, loss: float, parameter: str | None, ranks: tuple[int, ...] = ()) -> None:
        self.loss = loss
        self.parameter = parameter  # the first whose gradient was not finite, in the network's own order
        self.ranks = ranks  # whose own loss was not finite, where several train together
        super().__init__(f"loss {loss}, first gradient that is not finite: {parameter}")


class Session(Protocol):
    """A network with its optimizer on a device.

    The keys of a state are `model/<name>`, `optimizer/<slot>/<name>`, `average/<name>` and `rng/<name>`; loading a
    state and stepping on gives the same bits as never having stopped.
    """

    engine: str
    device: str
    parameters: tuple[ParameterInfo, ...]
    notes: tuple[str, ...]  # what a person should know before the first step

    def step(self, batch: Batch, learning_rate: float) -> SupportsFloat:
        """Change the weights once. The loss is lazy: reading it may wait for the device."""

    def logits(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The network's outputs in evaluation mode, from the averaged weights where there are any."""

    def state(self) -> Arrays:
        """A copy of everything that a continuation to the same bits needs."""

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take a state, or a part of one: what is not there stays as it is."""

    def probe(self, names: Iterable[str]) -> dict[str, Statistics]:
        """Statistics of `weight/<name>`, `gradient/<name>` and `activation/<layer>` at the latest step."""

    def messages(self) -> list[str]:
        """What the framework has said since the last time, kept from the terminal: it belongs into a log."""

    def close(self) -> None:
        """Let go of the device and of whatever was changed in the process."""
