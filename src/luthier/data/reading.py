"""Image files that belong to no data set, made like those a network was evaluated on."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import isdir
from pathlib import Path

import numpy as np

from luthier.data.batch import Images
from luthier.data.decoding import decode
from luthier.data.pipeline import Pipeline
from luthier.data.transforms.resize import resized_array
from luthier.errors import DataError
from luthier.recipe import Transform

__all__ = ["read_images"]


def read_images(
    paths: Iterable[str | Path], *, shape: tuple[int, int, int], transforms: Iterable[Transform] = ()
) -> Images:
    """Each file upright, in the shape's colours, through the transforms, then resized where it still differs."""
    if shape[2] not in (1, 3):
        raise DataError(f"Image files have 1 or 3 channels, the network takes {shape[2]}")
    pipeline = Pipeline(transforms)
    return np.stack([_read(Path(path), shape, pipeline) for path in paths])


def _read(path: Path, shape: tuple[int, int, int], pipeline: Pipeline) -> Images:
    try:
        picture = decode(path, channels=shape[2], upright=True)
    except DataError as error:  # its remedy is a data set's
        hint = f"Name its images: {path / '*.png'}" if isdir(path) else None
        raise DataError(error.sentence, at=error.at, hint=hint) from error
    images = np.array(picture).reshape(1, picture.height, picture.width, shape[2])
    draws = tuple(stream.take(1) for stream in pipeline.streams(0, 0, 0))
    try:
        images = pipeline.apply(images, draws)
    except DataError as error:
        raise DataError(error.sentence, at=str(path), hint=error.hint) from error
    image: Images = images[0]
    return image if image.shape == shape else resized_array(image, (shape[0], shape[1]))
