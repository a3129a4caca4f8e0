"""The moving average of the weights that evaluation uses."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from luthier.strategy import average_decay

__all__ = ["Average"]


class Average:
    """Follows every parameter and buffer; a counter, having no average, is copied."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.tensors = {name: value.detach().clone() for name, value in module.state_dict().items()}
        source = module.state_dict(keep_vars=True)
        floating = [name for name, value in self.tensors.items() if value.is_floating_point()]
        self._own = [self.tensors[name] for name in floating]
        self._theirs = [source[name].detach() for name in floating]
        self._counters = [(self.tensors[name], source[name]) for name in self.tensors if name not in set(floating)]
        self.steps = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take one step towards the weights as they are now."""
        torch._foreach_lerp_(self._own, self._theirs, 1.0 - average_decay(self.decay, self.steps))
        self.steps += 1
        for own, theirs in self._counters:
            own.copy_(theirs)

    def load(self, tensors: Mapping[str, Tensor], steps: int) -> None:
        """Go on from a saved average."""
        self.steps = steps
        for name, value in tensors.items():
            self.tensors[name].copy_(value)
