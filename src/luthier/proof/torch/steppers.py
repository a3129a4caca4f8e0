"""PyTorch's own optimizers, fed with given gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from luthier.engines.torch import build_optimizers, parameter_infos
from luthier.proof.network import Array, Arrays
from luthier.proof.torch.arrays import array_of
from luthier.proof.trainer import Settled
from luthier.strategy import groups

__all__ = ["OwnStepper", "SettledStepper"]


class OwnStepper:
    """An optimizer, or a pair of an optimizer and a schedule that moves after each step."""

    def __init__(self, module: nn.Module, made: Any) -> None:
        self._parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}
        self.optimizer, self._schedule = made if isinstance(made, tuple) else (made, None)

    def learning_rate(self) -> float | None:
        """The first group's."""
        return float(self.optimizer.param_groups[0]["lr"])

    def apply(self, gradients: Mapping[str, Array]) -> None:
        """One step of the optimizer, then one of the schedule."""
        self._take(gradients)
        self.optimizer.step()
        if self._schedule is not None:
            self._schedule.step()

    def _take(self, gradients: Mapping[str, Array]) -> None:
        for name, parameter in self._parameters.items():
            gradient = gradients.get(name)
            parameter.grad = (
                None if gradient is None else torch.from_numpy(np.array(gradient, order="C")).to(parameter.dtype)
            )

    def settings(self) -> dict[str, Any]:
        """What the optimizer was made with, of the first group, and the optimizer's name."""
        group = {key: value for key, value in self.optimizer.param_groups[0].items() if key != "params"}
        decays = {
            id(parameter): group["weight_decay"]
            for group in self.optimizer.param_groups
            for parameter in group["params"]
            if "weight_decay" in group
        }
        named = {name: float(decays.get(id(p), 0.0)) for name, p in self._parameters.items()}
        return group | {"kind": type(self.optimizer).__name__, "decays": named}

    def arrays(self) -> Arrays:
        """Copies."""
        return {name: array_of(parameter) for name, parameter in self._parameters.items()}


class SettledStepper(OwnStepper):
    """A recipe's optimizer by PyTorch's own classes, at a rate for each step."""

    def __init__(self, module: nn.Module, settled: Settled) -> None:
        infos = parameter_infos(module)
        named = {name: p for name, p in module.named_parameters() if p.requires_grad}
        self._settled, self._taken = settled, 0
        self._optimizers = build_optimizers(settled.optimizer, groups(settled.optimizer, infos), named)
        super().__init__(module, self._optimizers[0])

    def learning_rate(self) -> float | None:
        """The schedule's."""
        rates = self._settled.rates
        return float(rates[min(self._taken, len(rates) - 1)])

    def apply(self, gradients: Mapping[str, Array]) -> None:
        """One step of every optimizer."""
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = (self.learning_rate() or 0.0) * group["factor"]
        self._take(gradients)
        for optimizer in self._optimizers:
            optimizer.step()
        self._taken += 1
