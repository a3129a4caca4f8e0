"""Pixels with their shape before them: an image file that every decoder knows, at no more cost than a copy."""

from __future__ import annotations

import re
from math import prod

__all__ = ["head", "shape_and_start"]

Shape = tuple[int, int, int]  # height, width, channels
FEW = re.compile(rb"P([56])\n(\d+) (\d+)\n255\n")
MANY = re.compile(rb"P7\nWIDTH (\d+)\nHEIGHT (\d+)\nDEPTH (\d+)\nMAXVAL 255\nENDHDR\n")
CHANNELS = {b"5": 1, b"6": 3}


def head(shape: tuple[int, ...]) -> bytes:
    """What stands before the pixels: PGM for grey, PPM for colour, PAM for any other number of channels."""
    height, width, channels = shape
    if channels in (1, 3):
        return f"P{5 if channels == 1 else 6}\n{width} {height}\n255\n".encode()
    return f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL 255\nENDHDR\n".encode()


def shape_and_start(content: bytes) -> tuple[Shape, int] | None:
    """The shape, and where the pixels begin; None of anything that `head` did not write."""
    if few := FEW.match(content):
        shape = (int(few[3]), int(few[2]), CHANNELS[few[1]])
        found = few.end()
    elif many := MANY.match(content):
        shape = (int(many[2]), int(many[1]), int(many[3]))
        found = many.end()
    else:
        return None
    return (shape, found) if len(content) == found + prod(shape) else None
