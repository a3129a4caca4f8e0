"""Windows out of images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from luthier.data.batch import Images
from luthier.data.draws import Raw, integers
from luthier.data.transforms.operation import Size
from luthier.errors import DataError
from luthier.recipe import CenterCrop, RandomCrop

__all__ = ["CenterCropping", "RandomCropping"]


class RandomCropping:
    """Whole rows are gathered from windows over the padded batch: a row of pixels is one element to NumPy.

    Of fourteen ways tried on CIFAR-10 at batch 32 this was the fastest with a flip behind it, 550,000 images/s; one
    gather of single pixels that crops and flips at once, 210,000; a loop over images, 195,000; the training part
    padded once for all, 350,000 and 90 MB more. One core of an AMD EPYC, NumPy 2.4, median of 5 epochs.
    """

    width = 2

    def __init__(self, record: RandomCrop) -> None:
        self._padding, self._size = record.padding, record.size

    def size(self, size: Size | None) -> Size | None:
        """The window's, or the image's own."""
        if self._size is None:
            return size
        window = (self._size, self._size)
        if size and (self._size > size[0] + 2 * self._padding or self._size > size[1] + 2 * self._padding):
            raise DataError(
                f"random-crop takes {self._size}×{self._size} out of images of {size[0]}×{size[1]}, "
                f"padded by {self._padding}",
                hint="Resize before it, or give it a smaller size or a larger padding.",
            )
        return window

    def apply(self, images: Images, raw: Raw) -> Images:
        """A window of each at random."""
        size = (images.shape[1], images.shape[2])
        crop_height, crop_width = self.size(size) or size
        padded = _padded(images, self._padding)
        count, height, width, channels = padded.shape
        rows: NDArray[np.void] = np.ndarray(
            shape=(count, height - crop_height + 1, width - crop_width + 1, crop_height),
            dtype=np.dtype((np.void, crop_width * channels)),
            buffer=padded.data,
            strides=(height * width * channels, width * channels, channels, width * channels),
        )
        top = integers(raw[:, 0], height - crop_height + 1)
        left = integers(raw[:, 1], width - crop_width + 1)
        windows: Images = rows[np.arange(count), top, left].view(np.uint8)
        return windows.reshape(count, crop_height, crop_width, channels)


def _padded(images: Images, padding: int) -> Images:
    """Zeros all around."""
    if not padding:
        return np.ascontiguousarray(images)
    count, height, width, channels = images.shape
    padded = np.zeros((count, height + 2 * padding, width + 2 * padding, channels), np.uint8)
    padded[:, padding : padding + height, padding : padding + width] = images
    return padded


class CenterCropping:
    """Where an image is smaller, zeros stand around it, as in torchvision."""

    width = 0

    def __init__(self, record: CenterCrop) -> None:
        self._size = record.size

    def size(self, size: Size | None) -> Size | None:
        """Always the window's."""
        return (self._size, self._size)

    def apply(self, images: Images, raw: Raw) -> Images:
        """The middle of each; half a pixel is rounded as torchvision rounds it, to even."""
        count, height, width, channels = images.shape
        if height < self._size or width < self._size:
            larger = np.zeros((count, max(height, self._size), max(width, self._size), channels), np.uint8)
            top, left = (larger.shape[1] - height) // 2, (larger.shape[2] - width) // 2
            larger[:, top : top + height, left : left + width] = images
            images = larger
        top, left = (round((side - self._size) / 2) for side in images.shape[1:3])
        return images[:, top : top + self._size, left : left + self._size]
