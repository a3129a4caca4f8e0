"""Arrays in memory as a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from luthier.data.batch import Images, Labels
from luthier.data.source import Part, Source
from luthier.errors import DataError

__all__ = ["arrays", "check_labels"]


def arrays(
    images: ArrayLike,
    labels: ArrayLike,
    eval_images: ArrayLike,
    eval_labels: ArrayLike,
    *,
    classes: Sequence[str] | None = None,
    name: str = "arrays",
) -> Source:
    """Bytes in the order image, row, column, channel (or no channel axis, for grey), kept as they are without a copy.

    Without `classes` they are numbered, up to the highest label of either part.
    """
    parts = {"images": _images("images", images), "eval_images": _images("eval_images", eval_images)}
    if parts["images"].shape[3] != parts["eval_images"].shape[3]:
        raise DataError(
            f"images have {parts['images'].shape[3]} channels, eval_images {parts['eval_images'].shape[3]}", at=name
        )
    numbers = {
        "labels": _labels("labels", labels, len(parts["images"])),
        "eval_labels": _labels("eval_labels", eval_labels, len(parts["eval_images"])),
    }
    if classes is None:
        classes = [str(label) for label in range(1 + max(int(array.max()) for array in numbers.values()))]
    for field, array in numbers.items():
        check_labels(array, len(classes), at=field)
    return Source(
        name=name,
        classes=tuple(classes),
        train=Part(images=parts["images"], labels=numbers["labels"].astype(np.int32)),
        eval=Part(images=parts["eval_images"], labels=numbers["eval_labels"].astype(np.int32)),
    )


def check_labels(labels: NDArray[np.integer[Any]], num_classes: int, *, at: str) -> None:
    """Refuse a label that no class has; a framework would index past its logits, or not notice."""
    wrong = np.flatnonzero((labels < 0) | (labels >= num_classes))
    if len(wrong):
        raise DataError(
            f"Expected labels from 0 to {num_classes - 1}, got {labels[wrong[0]]} for image {wrong[0]}", at=at
        )


def _images(field: str, value: ArrayLike) -> Images:
    array = np.asarray(value)
    if array.dtype != np.uint8:
        raise DataError(
            f"Expected images of uint8, got {array.dtype}",
            at=field,
            hint="Where they run from 0 to 1: (images * 255).round().astype('uint8'). Luthier normalises by itself.",
        )
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4:
        raise DataError(f"Expected images as (count, height, width, channels), got shape {array.shape}", at=field)
    if 0 in array.shape:
        raise DataError(f"Expected images, got none: shape {array.shape}", at=field)
    if array.shape[1] in (1, 3) and array.shape[3] not in (1, 3, 4):
        raise DataError(
            f"Expected the channels last, got shape {array.shape}", at=field, hint="images.transpose(0, 2, 3, 1)"
        )
    return array


def _labels(field: str, value: ArrayLike, count: int) -> Labels:
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(f"Expected one whole number an image, got {array.dtype} of shape {array.shape}", at=field)
    if len(array) != count:
        raise DataError(f"Expected {count} labels, one an image, got {len(array)}", at=field)
    return array
