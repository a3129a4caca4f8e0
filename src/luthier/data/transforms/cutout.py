"""Squares of nothing."""

from __future__ import annotations

from luthier.data.batch import Images
from luthier.data.draws import Raw, integers
from luthier.data.transforms.operation import Size
from luthier.recipe import Cutout

__all__ = ["CuttingOut"]


class CuttingOut:
    """The centre is drawn from the whole image, as in the paper, so that near an edge less is cut."""

    width = 2

    def __init__(self, record: Cutout) -> None:
        self._size = record.size

    def size(self, size: Size | None) -> Size | None:
        """Unchanged."""
        return size

    def apply(self, images: Images, raw: Raw) -> Images:
        """A square of zeros in each, in place."""
        height, width = images.shape[1:3]
        tops = (integers(raw[:, 0], height) - self._size // 2).tolist()
        lefts = (integers(raw[:, 1], width) - self._size // 2).tolist()
        for image, top, left in zip(images, tops, lefts, strict=True):
            image[max(top, 0) : max(top + self._size, 0), max(left, 0) : max(left + self._size, 0)] = 0
        return images
