"""The contract of a transform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from luthier.data.batch import Images
from luthier.data.draws import Raw

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Operation", "PictureOperation", "Size"]

Size = tuple[int, int]  # height, width


class Operation(Protocol):
    """A transform of many images of one size, each with random numbers of its own."""

    width: int  # random numbers that an image takes

    def size(self, size: Size | None) -> Size | None:
        """What becomes of images of that size; None stands for sizes that vary. Refuses what cannot be done."""

    def apply(self, images: Images, raw: Raw) -> Images:
        """The images afterwards; those given may be changed in place."""


@runtime_checkable
class PictureOperation(Protocol):
    """A transform that resamples: one image at a time, in Pillow, which lets other threads run meanwhile."""

    def apply_to(self, picture: Image.Image, raw: Raw) -> Image.Image:
        """The picture afterwards, by its own random numbers."""
