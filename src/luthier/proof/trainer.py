"""How a proof trains: by a recipe's optimizer, or as the user's own class says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from luthier.recipe import Optimizer

__all__ = ["Settled", "Trainer"]


@dataclass(frozen=True, kw_only=True)
class Settled:
    """An optimizer by its record, and the learning rate of each step."""

    optimizer: Optimizer
    rates: Sequence[float]


class Trainer(Protocol):
    """The user's own, one for each side; every method may be missing.

    `batches()` gives inputs and, last, labels. `loss(outputs, labels)` gives a scalar. `optimizer(network)` gives the
    framework's optimizer, for PyTorch with a schedule beside it where there is one. `gradients(network, *inputs,
    labels)` gives the loss and the trainable parameters' gradients, where they are scaled, clipped or accumulated.
    """
