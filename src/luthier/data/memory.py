"""Arrays in memory as a source."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from luthier.data.checking import Fields, as_images, as_labels, checked, class_names
from luthier.data.source import Part, Source

__all__ = ["arrays"]


def arrays(
    images: ArrayLike,
    labels: ArrayLike,
    eval_images: ArrayLike,
    eval_labels: ArrayLike,
    *,
    classes: Iterable[str] | None = None,
    name: str = "arrays",
) -> Source:
    """Bytes in the order image, row, column, channel (or no channel axis, for grey), kept as they are without a copy.

    Without `classes` they are numbered, up to the highest label of either part.
    """
    fields = Fields("images", "labels", "eval_images", "eval_labels")
    pixels = [
        as_images(given, at=field) for given, field in ((images, fields.images), (eval_images, fields.eval_images))
    ]
    numbers = [
        as_labels(given, at=field) for given, field in ((labels, fields.labels), (eval_labels, fields.eval_labels))
    ]
    if classes is None:
        classes = [str(label) for label in range(1 + max(int(array.max(initial=0)) for array in numbers))]
    train, evaluation = (Part(images=bytes_, labels=array) for bytes_, array in zip(pixels, numbers, strict=True))
    names = class_names(classes, at="classes")
    return checked(Source(name=name, classes=names, train=train, eval=evaluation), fields)
