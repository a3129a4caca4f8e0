"""Optimizers over a Cell, fed with given gradients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mindspore import Tensor, nn

from luthier.engines.mindspore import updater
from luthier.proof.mindspore.arrays import array_of
from luthier.proof.network import Array, Arrays
from luthier.proof.trainer import Settled

__all__ = ["OwnStepper", "SettledStepper"]


class Parameters:
    """The trainable ones."""

    def __init__(self, cell: nn.Cell) -> None:
        self._parameters = cell.trainable_params()

    def gradients(self, gradients: Mapping[str, Array]) -> tuple[Tensor, ...]:
        """In the parameters' order; zeros where there is none."""
        return tuple(
            Tensor(np.asarray(gradients.get(p.name, np.zeros(tuple(p.shape))), order="C"), p.dtype)
            for p in self._parameters
        )

    def arrays(self) -> Arrays:
        """Copies."""
        return {parameter.name: array_of(parameter) for parameter in self._parameters}


class SettledStepper(Parameters):
    """A recipe's optimizer, by Luthier's engine."""

    def __init__(self, cell: nn.Cell, settled: Settled, names: Mapping[str, str]) -> None:
        super().__init__(cell)
        self._update = updater(settled.optimizer, cell, names)
        self._rates, self._taken = settled.rates, 0

    def learning_rate(self) -> float | None:
        """The schedule's."""
        return float(self._rates[min(self._taken, len(self._rates) - 1)])

    def apply(self, gradients: Mapping[str, Array]) -> None:
        """One step."""
        self._update(self.gradients(gradients), self.learning_rate() or 0.0)
        self._taken += 1


class OwnStepper(Parameters):
    """The user's optimizer; the network's parameters that it was not given get no gradient."""

    def __init__(self, cell: nn.Cell, optimizer: nn.Optimizer) -> None:
        super().__init__(cell)
        self.optimizer = optimizer
        held = {id(parameter) for parameter in optimizer.parameters}
        self._held = [i for i, parameter in enumerate(self._parameters) if id(parameter) in held]

    def learning_rate(self) -> float | None:
        """What the optimizer will take, of the first group."""
        rate = self.optimizer.get_lr()
        first = rate[0] if isinstance(rate, tuple | list) else rate
        return float(first.asnumpy() if hasattr(first, "asnumpy") else first)

    def apply(self, gradients: Mapping[str, Array]) -> None:
        """One step, in the optimizer's own order of parameters."""
        given = {id(p): g for p, g in zip(self._parameters, self.gradients(gradients), strict=True)}
        self.optimizer(tuple(given[id(parameter)] for parameter in self.optimizer.parameters))
