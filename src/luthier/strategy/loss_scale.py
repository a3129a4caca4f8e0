"""The dynamic loss scale of float16 training: what it is after every step."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["LossScale"]


@dataclass(frozen=True, kw_only=True)
class LossScale:
    """Halved where a gradient overflowed, doubled after a long run without; it begins where PyTorch's does."""

    scale: float = 65_536.0
    good_steps: int = 0  # in a row, since the scale last changed
    growth_interval: int = 2000
    factor: float = 2.0

    def updated(self, *, finite: bool) -> LossScale:
        """The state for the next step, given whether this one's gradients were finite; it never falls below 1."""
        if not finite:
            return replace(self, scale=max(self.scale / self.factor, 1.0), good_steps=0)
        if self.good_steps + 1 < self.growth_interval:
            return replace(self, good_steps=self.good_steps + 1)
        return replace(self, scale=self.scale * self.factor, good_steps=0)
