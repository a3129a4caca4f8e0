"""What a step learns from, as the one array that a compiled step takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.data import Batch

__all__ = ["answers_of"]


def answers_of(batch: Batch, num_classes: int) -> NDArray[Any]:
    """The labels; where there is a teacher a row of shares for each image, and behind it the teacher's logits."""
    if batch.teacher is None:
        return batch.labels
    labels = batch.labels
    rows = np.eye(num_classes, dtype=np.float32)[labels] if labels.ndim == 1 else labels
    return np.concatenate([rows, batch.teacher], axis=1)
