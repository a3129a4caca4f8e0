"""Resampling in Pillow, with the antialiasing that torchvision has by default: the reference of the field."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from luthier.data.batch import Images
from luthier.data.draws import Raw, integers, uniform
from luthier.data.transforms.operation import Size
from luthier.recipe import RandomResizedCrop, Resize

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["RandomResizedCropping", "Resizing", "resized_array"]

ATTEMPTS = 10  # as torchvision has it


class Resizing:
    """The shorter side becomes `size` and the longer one is cut to a whole pixel, as torchvision does."""

    width = 0

    def __init__(self, record: Resize) -> None:
        self._side, self._stretch = record.size, record.stretch

    def size(self, size: Size | None) -> Size | None:
        """Known where the images' is, or where both sides are set."""
        if self._stretch:
            return (self._side, self._side)
        if size is None:
            return None
        height, width = size
        if height < width:
            return (self._side, self._side * width // height)
        return (self._side * height // width, self._side)

    def apply_to(self, picture: Image.Image, raw: Raw) -> Image.Image:
        """An image that has the size is left alone."""
        size = self.size((picture.height, picture.width))
        assert size is not None, "an image has a size"
        return picture if size == (picture.height, picture.width) else _resized(picture, size)

    def apply(self, images: Images, raw: Raw) -> Images:
        """Each by itself."""
        return np.stack([_by_planes(image, lambda plane: self.apply_to(plane, raw)) for image in images])


class RandomResizedCropping:
    """Ten windows are tried; where none fits inside the image, the largest central one of an allowed ratio is taken."""

    width = 2 * ATTEMPTS + 2

    def __init__(self, record: RandomResizedCrop) -> None:
        self._side, self._scale, self._ratio = record.size, record.scale, record.ratio

    def size(self, size: Size | None) -> Size | None:
        """Always the same square."""
        return (self._side, self._side)

    def window(self, size: Size, raw: Raw) -> tuple[int, int, int, int]:
        """Top, left, height and width, by the random numbers of one image."""
        height, width = size
        shares = uniform(raw[: 2 * ATTEMPTS])
        areas = height * width * _between(self._scale, shares[:ATTEMPTS])
        ratios = np.exp(_between((math.log(self._ratio[0]), math.log(self._ratio[1])), shares[ATTEMPTS:]))
        widths, heights = np.rint(np.sqrt(areas * ratios)), np.rint(np.sqrt(areas / ratios))
        fits = np.flatnonzero((widths > 0) & (widths <= width) & (heights > 0) & (heights <= height))
        if not len(fits):
            return self._largest(height, width)
        crop_height, crop_width = int(heights[fits[0]]), int(widths[fits[0]])
        top = int(integers(raw[-2], height - crop_height + 1))
        left = int(integers(raw[-1], width - crop_width + 1))
        return top, left, crop_height, crop_width

    def _largest(self, height: int, width: int) -> tuple[int, int, int, int]:
        low, high = self._ratio
        crop_height, crop_width = height, width
        if width < low * height:
            crop_height = round(width / low)
        elif width > high * height:
            crop_width = round(height * high)
        return (height - crop_height) // 2, (width - crop_width) // 2, crop_height, crop_width

    def apply_to(self, picture: Image.Image, raw: Raw) -> Image.Image:
        """Cut out before it is resized, so that no pixel from outside the window bleeds in."""
        top, left, height, width = self.window((picture.height, picture.width), raw)
        return _resized(picture.crop((left, top, left + width, top + height)), (self._side, self._side))

    def apply(self, images: Images, raw: Raw) -> Images:
        """Each by itself."""
        return np.stack([self._apart(image, numbers) for image, numbers in zip(images, raw, strict=True)])

    def _apart(self, image: Images, raw: Raw) -> Images:
        return _by_planes(image, lambda plane: self.apply_to(plane, raw))


def resized_array(image: Images, size: Size) -> Images:
    """One image, both its sides set."""
    return _by_planes(image, lambda plane: _resized(plane, size))


def _resized(picture: Image.Image, size: Size) -> Image.Image:
    """Bilinear, antialiased; Pillow gives sizes as width and height."""
    from PIL import Image

    height, width = size
    return picture.resize((width, height), Image.Resampling.BILINEAR)


def _by_planes(image: Images, change: Callable[[Image.Image], Image.Image]) -> Images:
    """Pillow knows one channel and three; any other number goes one channel at a time."""
    from PIL import Image

    if image.shape[2] == 3:
        return np.asarray(change(Image.fromarray(image)))
    planes = [change(Image.fromarray(image[..., channel])) for channel in range(image.shape[2])]
    return np.stack([np.asarray(plane) for plane in planes], axis=2)


def _between(limits: tuple[float, float], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = limits
    return low + (high - low) * shares
