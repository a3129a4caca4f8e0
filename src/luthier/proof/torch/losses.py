"""The loss of a proof: the user's, or one that every output takes part in."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from luthier.proof.network import leaves_of

__all__ = ["loss_of"]


def loss_of(outputs: Any, labels: Any, trainer: Any) -> Tensor:
    """Cross-entropy for whole labels, otherwise the mean of squares; of several losses the first counts."""
    if hasattr(trainer, "loss"):
        found = trainer.loss(outputs, labels)
        return found[0] if isinstance(found, tuple) else found  # type: ignore[no-any-return]
    if labels is not None:
        smoothing = getattr(trainer, "label_smoothing", 0.0)
        return nn.functional.cross_entropy(outputs, labels.long(), label_smoothing=smoothing)
    parts = [leaf for leaf in leaves_of(outputs) if isinstance(leaf, Tensor) and leaf.is_floating_point()]
    return sum((part * part).mean() for part in parts)  # type: ignore[return-value]
