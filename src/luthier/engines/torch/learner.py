"""From gradients to changed weights: scale, clip, update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from luthier.engines.torch.optimizers import build_optimizers, load_slots, slots_of
from luthier.recipe import Recipe
from luthier.strategy import LossScale, ParameterInfo, groups

__all__ = ["Learner"]


class Learner:
    """Owns the optimizer; knows nothing of data or of the loss."""

    def __init__(self, recipe: Recipe, module: nn.Module, infos: Sequence[ParameterInfo]) -> None:
        strategy = recipe.strategy
        self._named = {name: value for name, value in module.named_parameters() if value.requires_grad}
        self._optimizers = build_optimizers(strategy.optimizer, groups(strategy.optimizer, infos), self._named)
        self._clip_norm = strategy.clip_norm
        self._dynamic = strategy.loss_scale == "dynamic"
        self._scale = LossScale() if strategy.loss_scale == "dynamic" else LossScale(scale=strategy.loss_scale)

    def zero_grad(self) -> None:
        """Forget the last step's gradients; they stay readable until now."""
        for parameter in self._named.values():
            parameter.grad = None

    def scaled(self, loss: Tensor) -> Tensor:
        """The loss whose gradients float16 can hold."""
        return loss * self._scale.scale if self._scale.scale != 1 else loss

    def update(self, learning_rate: float) -> None:
        """One step of the optimizer; with a dynamic scale a step whose gradients overflowed changes no weight."""
        if self._scale.scale != 1:
            torch._foreach_mul_(self._gradients(), 1 / self._scale.scale)
        if self._dynamic:
            finite = self.first_non_finite() is None
            self._scale = self._scale.updated(finite=finite)
            if not finite:
                return
        if self._clip_norm:
            nn.utils.clip_grad_norm_(self._named.values(), self._clip_norm)
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * group["factor"]
            optimizer.step()

    def _gradients(self) -> list[Tensor]:
        return [parameter.grad for parameter in self._named.values() if parameter.grad is not None]

    def first_non_finite(self) -> str | None:
        """The first parameter, in the network's order, whose gradient is not finite."""
        for name, parameter in self._named.items():
            if parameter.grad is not None and not bool(torch.isfinite(parameter.grad).all()):
                return name
        return None

    def slots(self) -> dict[str, Tensor]:
        """The optimizer's state and the loss scale's."""
        slots = slots_of(self._optimizers, self._named)
        if self._dynamic:
            slots["loss_scale"] = torch.tensor([self._scale.scale, self._scale.good_steps], dtype=torch.float64)
        return slots

    def load(self, slots: Mapping[str, Tensor]) -> None:
        """Go on from saved slots, which were found to match."""
        if self._dynamic:
            scale, good_steps = slots["loss_scale"].tolist()
            self._scale = replace(self._scale, scale=scale, good_steps=int(good_steps))
        load_slots(self._optimizers, self._named, slots)
