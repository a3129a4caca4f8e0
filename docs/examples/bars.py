"""A data set of one's own: noisy images with one bright bar, upright or level."""

from __future__ import annotations

from typing import Any

import numpy as np


def bars() -> tuple[Any, ...]:
    """Images and labels to train on, images and labels to evaluate on, and the names of the classes."""
    draw = np.random.default_rng(0)
    images = draw.integers(0, 60, (600, 32, 32, 1), np.uint8)
    labels = draw.integers(0, 2, 600)
    for image, label in zip(images, labels, strict=True):
        place = draw.integers(32)
        if label:
            image[place, :] = 255
        else:
            image[:, place] = 255
    return images[:500], labels[:500], images[500:], labels[500:], ("upright", "level")
