"""What one step sees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "Images", "Labels"]

Images = NDArray[np.uint8]  # count, height, width, channels
Labels = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Images as bytes, already cropped, flipped and jittered; the session normalises them on its own device."""

    images: Images
    labels: Labels | NDArray[np.float32]  # a number an image, or a row of shares where labels are mixed
    teacher: NDArray[np.float32] | None = None  # another network's logits, to learn from besides

    def __len__(self) -> int:
        return len(self.images)
