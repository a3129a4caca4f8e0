"""Brightness, contrast and saturation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from luthier.data.batch import Images
from luthier.data.draws import Raw, uniform
from luthier.data.transforms.operation import Size
from luthier.recipe import ColorJitter

__all__ = ["Jittering"]

Floats = NDArray[np.float32]
LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R 601-2, as Pillow's and torchvision's grey


class Jittering:
    """In this order; torchvision draws the order too. Each clips to a byte's range, the last alone rounds."""

    width = 3

    def __init__(self, record: ColorJitter) -> None:
        self._strengths = (record.brightness, record.contrast, record.saturation)

    def size(self, size: Size | None) -> Size | None:
        """Unchanged."""
        return size

    def apply(self, images: Images, raw: Raw) -> Images:
        """Each blended with black, with its mean grey, and with its own grey."""
        factors = _factors(raw, self._strengths)
        brightness, contrast, saturation = self._strengths
        values = images.astype(np.float32)
        if brightness:
            values = _blended(values, np.float32(0), factors[0])
        if contrast:
            values = _blended(values, _grey(values).mean(axis=(1, 2, 3), keepdims=True), factors[1])
        if saturation:
            values = _blended(values, _grey(values), factors[2])
        return np.rint(values).astype(np.uint8)


def _factors(raw: Raw, strengths: tuple[float, ...]) -> list[Floats]:
    """From 1−strength, at least 0, to 1+strength."""
    low = np.maximum(1 - np.array(strengths), 0)
    factors = low + uniform(raw) * (1 + np.array(strengths) - low)
    return [column.astype(np.float32)[:, None, None, None] for column in factors.T]


def _blended(values: Floats, other: Floats | np.float32, factor: Floats) -> Floats:
    return np.clip(values * factor + other * (1 - factor), 0, 255)


def _grey(values: Floats) -> Floats:
    if values.shape[3] == len(LUMA):
        return (values @ LUMA)[..., None]
    grey: Floats = values.mean(axis=3, keepdims=True)
    return grey
