"""The transforms of a part, one after the other, with their random numbers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from luthier.data.batch import Images
from luthier.data.draws import Purpose, Raw, Stream
from luthier.data.transforms import Operation, PictureOperation, Size, operation
from luthier.recipe import Transform

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Draws", "Pipeline"]

Draws = tuple[Raw, ...]  # one array a transform, one row an image


class Pipeline:
    """Whole batches where images have one size; one image at a time up to the transform that gives them one."""

    def __init__(self, records: Iterable[Transform]) -> None:
        self._operations: list[Operation] = [operation(record) for record in records]
        self._pictures = [step if isinstance(step, PictureOperation) else None for step in self._operations]
        self._alone = self._num_alone()

    def _num_alone(self) -> int:
        """How many transforms images of various sizes go through before they have one size."""
        size: Size | None = None
        for number, step in enumerate(self._operations, start=1):
            size = step.size(size)
            if size:
                return number
        pictures = [number for number, step in enumerate(self._pictures, 1) if step]
        return pictures[-1] if pictures else 0

    @property
    def resamples(self) -> bool:
        """Whether some transform is slow enough to be worth a thread."""
        return any(self._pictures)

    def size(self, size: Size | None) -> Size | None:
        """What images of a size come out as; None where theirs vary and nothing gives them one."""
        return _size_after(self._operations, size)

    def fixed_size(self, size: Size | None) -> Size:
        """The same, where it must be known."""
        return _known(self.size(size))

    def size_alone(self, size: Size | None) -> Size:
        """The size with which images leave the transforms that they go through alone."""
        return _known(_size_after(self._operations[: self._alone], size))

    def streams(self, seed: int, epoch: int, start: int) -> list[Stream]:
        """The random numbers of an epoch from a position on, a stream a transform."""
        return [
            Stream(seed, epoch, Purpose.TRANSFORM + index, width=step.width, start=start)
            for index, step in enumerate(self._operations)
        ]

    def apply(self, images: Images, draws: Draws) -> Images:
        """All transforms, on images of one size."""
        return _applied(self._operations, images, draws)

    def apply_alone(self, picture: Image.Image, draws: Draws, row: int) -> Images:
        """The transforms that images of various sizes go through, on one of them: Pillow's as long as it can be."""
        value: Image.Image | Images = picture
        for step, picture_step, raw in zip(self._operations[: self._alone], self._pictures, draws, strict=False):
            if picture_step and not isinstance(value, np.ndarray):
                value = picture_step.apply_to(value, raw[row])
            else:
                value = step.apply(np.array(value)[None], raw[row : row + 1])[0]
        return np.asarray(value)

    def apply_rest(self, images: Images, draws: Draws) -> Images:
        """The transforms after those."""
        return _applied(self._operations[self._alone :], images, draws[self._alone :])


def _size_after(operations: list[Operation], size: Size | None) -> Size | None:
    return reduce(lambda before, step: step.size(before), operations, size)


def _known(size: Size | None) -> Size:
    assert size is not None, "images of one size keep one"
    return size


def _applied(operations: list[Operation], images: Images, draws: Draws) -> Images:
    for step, raw in zip(operations, draws, strict=True):
        images = step.apply(images, raw)
    return images
