"""The part of a loss that a teacher's answers have."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

__all__ = ["Teaching"]


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """`weight` of the teacher's share of the loss, and the `temperature` at which the two networks are compared."""

    weight: float
    temperature: float

    def __call__(self, loss: Tensor, logits: Tensor, taught: Tensor) -> Tensor:
        """The squared temperature keeps the teacher's gradients as large as the labels', whatever it is."""
        own, given = (log_softmax(values / self.temperature, dim=1) for values in (logits, taught))
        apart = kl_div(own, given, reduction="batchmean", log_target=True) * self.temperature**2
        return (1 - self.weight) * loss + self.weight * apart
