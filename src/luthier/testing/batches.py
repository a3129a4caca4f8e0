"""Batches without a data set."""

from __future__ import annotations

import numpy as np

from luthier.data import Batch

__all__ = ["random_batches"]


def random_batches(
    count: int, *, size: int = 8, shape: tuple[int, int, int] = (32, 32, 3), num_classes: int = 10, seed: int = 0
) -> list[Batch]:
    """Random pixels with random labels, the same for the same seed."""
    draw = np.random.default_rng(seed)
    return [
        Batch(
            images=draw.integers(0, 256, (size, *shape), np.uint8),
            labels=draw.integers(0, num_classes, size, np.int32),
        )
        for _ in range(count)
    ]
