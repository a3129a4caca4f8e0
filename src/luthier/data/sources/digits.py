"""Handwritten digits, part of the package: `digits/README.md` says where they are from and how they are laid out."""

from __future__ import annotations

import gzip
from importlib.resources import files

import numpy as np

from luthier.data.entry import Outline
from luthier.data.places import Place
from luthier.data.registry import register
from luthier.data.source import Part, Source

NUM_TRAIN = 1437
CLASSES = tuple("0123456789")
SIDE, ENLARGED, LEVELS = 8, 4, 16


def open_digits(place: Place) -> Source:
    """32×32 by repetition: the eight pixels of a side are counts over blocks of four, so nothing is invented."""
    packed = files("luthier.data").joinpath("digits", "digits.bin.gz").read_bytes()
    records = np.frombuffer(gzip.decompress(packed), np.uint8).reshape(-1, 1 + SIDE * SIDE)
    levels = records[:, 1:].reshape(-1, SIDE, SIDE, 1).astype(np.uint16)
    pixels = ((levels * 255 + LEVELS // 2) // LEVELS).astype(np.uint8)
    images = pixels.repeat(ENLARGED, axis=1).repeat(ENLARGED, axis=2)
    labels = records[:, 0].astype(np.int32)
    return Source(
        name=place.name,
        classes=CLASSES,
        train=Part(images=images[:NUM_TRAIN], labels=labels[:NUM_TRAIN]),
        eval=Part(images=images[NUM_TRAIN:], labels=labels[NUM_TRAIN:]),
    )


register(
    "digits",
    open_digits,
    outline=Outline(shape=(SIDE * ENLARGED, SIDE * ENLARGED, 1), classes=CLASSES, num_train=NUM_TRAIN),
)
