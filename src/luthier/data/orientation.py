"""How a camera was held, by the word of its file (EXIF): photographs from phones often lie on their side."""

from __future__ import annotations

import struct
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["LYING", "UPRIGHT", "orientation_of", "turned_upright"]

TAG = 0x0112
UPRIGHT = 1
LYING = (5, 6, 7, 8)  # width and height change places
DAMAGE = (OSError, SyntaxError, ValueError, TypeError, EOFError, struct.error)  # what Pillow raises of such data


def orientation_of(image: Image.Image) -> int:
    """From 1 for upright to 8; what is damaged or unknown says nothing, and the image can still be seen."""
    if image.format == "TIFF":  # which Pillow turns by itself
        return UPRIGHT
    with warnings.catch_warnings(action="ignore"):
        try:
            found = image.getexif().get(TAG)
        except DAMAGE:
            return UPRIGHT
    return found if isinstance(found, int) and UPRIGHT < found <= max(LYING) else UPRIGHT


def turned_upright(image: Image.Image, orientation: int) -> Image.Image:
    """As the camera meant it to be seen."""
    from PIL.Image import Transpose

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(turns[orientation]) if orientation in turns else image
