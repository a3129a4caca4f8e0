"""The loss of a proof: the user's, or one that every output takes part in."""

from __future__ import annotations

from typing import Any

import mindspore
from mindspore import Tensor, ops

from luthier.proof.network import leaves_of

__all__ = ["loss_of"]


def loss_of(outputs: Any, labels: Any, trainer: Any) -> Any:
    """Cross-entropy for whole labels, otherwise the mean of squares; the user's stays as it is, however many."""
    if hasattr(trainer, "loss"):
        return trainer.loss(outputs, labels)
    if labels is not None:
        smoothing = float(getattr(trainer, "label_smoothing", 0.0))
        return ops.cross_entropy(outputs, labels.astype(mindspore.int32), label_smoothing=smoothing)
    parts = [(leaf * leaf).mean() for leaf in leaves_of(outputs) if isinstance(leaf, Tensor) and _is_floating(leaf)]
    return sum(parts[1:], parts[0])


def _is_floating(tensor: Tensor) -> bool:
    return tensor.dtype in (mindspore.float32, mindspore.float16, mindspore.bfloat16, mindspore.float64)
