"""Image files: their pixels, or the error that names the file."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from luthier.data.orientation import LYING, UPRIGHT, orientation_of, turned_upright
from luthier.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["SUFFIXES", "decode", "decode_bytes", "image_facts", "image_size", "printable", "size_of_bytes"]

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error)  # what Pillow's readers raise


def printable(path: Path | str) -> str:
    """A path as it can be logged: a name may hold bytes that no text has."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def decode(path: Path, *, channels: int = 3, upright: bool = False) -> Image.Image:
    """The image in colour, or for one channel in grey; `upright` turns it as a camera says that it was held."""
    with _opened(path, printable(path)) as image:
        converted = _converted(image, "L" if channels == 1 else "RGB")
        return turned_upright(converted, orientation_of(image)) if upright else converted


class ImageFacts(NamedTuple):
    """What a file says of its image: its size when it is upright, whether it must be turned for that, its colours."""

    height: int
    width: int
    turned: bool
    grey: bool


def image_facts(path: Path) -> ImageFacts:
    """From the file's head alone."""
    with _opened(path, printable(path)) as image:
        orientation = orientation_of(image)
        height, width = (image.width, image.height) if orientation in LYING else (image.height, image.width)
        grey = image.mode in ("1", "L", "LA") or image.mode.startswith("I")
        return ImageFacts(height=height, width=width, turned=orientation != UPRIGHT, grey=grey)


def image_size(path: Path) -> tuple[int, int]:
    """Height and width, from the file's head alone."""
    with _opened(path, printable(path)) as image:
        return image.height, image.width


def decode_bytes(content: bytes, *, at: str) -> Image.Image:
    """The same of a file that is in memory."""
    with _opened(io.BytesIO(content), at) as image:
        return _converted(image, "RGB")


def size_of_bytes(content: bytes, *, at: str) -> tuple[int, int]:
    """Height and width of a file that is in memory."""
    with _opened(io.BytesIO(content), at) as image:
        return image.height, image.width


@contextmanager
def _opened(file: Path | io.BytesIO, place: str) -> Iterator[Image.Image]:
    from PIL import Image

    try:
        with Image.open(file) as image:
            yield image
    except (*DAMAGE, Image.DecompressionBombError) as error:
        raise _unreadable(place, error) from error


def _converted(image: Image.Image, mode: str) -> Image.Image:
    """Pillow clips 16-bit greys to white where it should scale them, and warns where a palette has transparency."""
    from PIL import Image

    if image.mode.startswith("I;16"):
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    elif image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image.convert(mode)


def _unreadable(place: str, error: BaseException) -> DataError:
    from PIL import UnidentifiedImageError

    if isinstance(error, FileNotFoundError):
        return DataError("An image file is missing", at=place)
    if isinstance(error, IsADirectoryError):
        return DataError("Expected an image file, got a folder", at=place)
    if isinstance(error, OSError) and error.errno and error.strerror:
        return DataError(f"The image file cannot be read: {error.strerror}", at=place)
    unknown = isinstance(error, UnidentifiedImageError)
    reason = "" if unknown else _without(str(error), (repr(place), place))
    return DataError(
        "Not an image that can be read" + (f": {reason}" if reason else ""),
        at=place,
        hint='Replace or remove the file, or set data.on_error = "skip" to count it and go on.',
    )


def _without(text: str, parts: Iterable[str]) -> str:
    """Pillow repeats the path, which stands in our place already."""
    for part in parts:
        text = text.replace(part, "")
    return " ".join(text.split())
