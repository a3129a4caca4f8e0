"""Whether a source can be trained on, whoever made it: its images, its labels, and the names of its classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from luthier.data.batch import Images
from luthier.data.source import Part, Source
from luthier.errors import DataError

__all__ = ["Fields", "as_images", "as_labels", "check_labels", "checked", "class_names"]

LARGEST_BYTE = 255


class Fields(NamedTuple):
    """What the four arrays are called where the user gave them."""

    images: str
    labels: str
    eval_images: str
    eval_labels: str


def checked(source: Source, fields: Fields | None = None) -> Source:
    """The same, its labels as int32 and its names as plain texts: what is wrong would fail in an epoch, or after it."""
    parts = ("train.images", "train.labels", "eval.images", "eval.labels")
    fields = fields or Fields(*(f"{part} of {source.name}" for part in parts))
    classes = class_names(source.classes, at=f"classes of {source.name}")
    train = _checked_part(source.train, len(classes), fields.images, fields.labels)
    evaluation = _checked_part(source.eval, len(classes), fields.eval_images, fields.eval_labels)
    _check_channels(train, evaluation, fields, at=source.name)
    return replace(source, classes=classes, train=train, eval=evaluation)


def _checked_part(part: Part, num_classes: int, images_at: str, labels_at: str) -> Part:
    encoded = hasattr(part.images, "picture")
    images = part.images if encoded else as_images(part.images, at=images_at)  # type: ignore[arg-type]
    labels = as_labels(part.labels, at=labels_at)
    if len(labels) != len(images):
        raise DataError(f"Expected {len(images)} labels, one an image, got {len(labels)}", at=labels_at)
    check_labels(labels, num_classes, at=labels_at)
    return Part(images=images, labels=labels.astype(np.int32, copy=False))


def _check_channels(train: Part, evaluation: Part, fields: Fields, *, at: str) -> None:
    if isinstance(train.images, np.ndarray) and isinstance(evaluation.images, np.ndarray):
        channels = [part.images.shape[3] for part in (train, evaluation)]  # type: ignore[union-attr]
        if channels[0] != channels[1]:
            raise DataError(f"{fields.images} have {channels[0]} channels, {fields.eval_images} {channels[1]}", at=at)


def check_labels(labels: NDArray[np.integer[Any]], num_classes: int, *, at: str) -> None:
    """Refuse a label that no class has; a framework would index past its logits, or not notice."""
    wrong = np.flatnonzero((labels < 0) | (labels >= num_classes))
    if len(wrong):
        raise DataError(
            f"Expected labels from 0 to {num_classes - 1}, got {labels[wrong[0]]} for image {wrong[0]}", at=at
        )


def class_names(names: Iterable[str], *, at: str) -> tuple[str, ...]:
    """Plain texts, each another: they stand in checkpoints, results and tables, and a person tells classes by them."""
    if isinstance(names, str | bytes | set | frozenset):
        raise DataError(f"Expected the classes' names as a list, got a {type(names).__name__}", at=at)
    try:
        given = list(names)
    except TypeError:
        raise DataError(f"Expected the classes' names as a list, got {names!r}", at=at) from None
    if not given:
        raise DataError("Expected the name of at least one class, got none", at=at)
    seen: dict[str, int] = {}
    for number, value in enumerate(given):
        name = _plain(value, number, at)
        if name in seen:
            raise DataError(f"Two classes are called '{name}': numbers {seen[name]} and {number}", at=at)
        seen[name] = number
    return tuple(seen)


def _plain(value: object, number: int, at: str) -> str:
    if not isinstance(value, str):
        hint = "name.decode()" if isinstance(value, bytes) else "str(name)"
        raise DataError(
            f"Expected a text as the name of class {number}, got {value!r}", at=at, hint=f"[{hint} for name in names]"
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        shown = value.encode("utf-8", "backslashreplace").decode()
        raise DataError(f"The name of class {number} is not UTF-8: '{shown}'", at=at, hint="Rename it.") from None
    return str.__str__(value)  # of NumPy's texts, say, which no JSON takes


def as_images(value: ArrayLike, *, at: str) -> Images:
    """One array of bytes with an axis for the channels; it is not copied where it is one already."""
    array = _array(value, "images of one size", at)
    if array.dtype != np.uint8:
        raise DataError(f"Expected images of uint8, got {array.dtype}", at=at, hint=_to_bytes(array))
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4:
        raise DataError(f"Expected images as (count, height, width, channels), got shape {array.shape}", at=at)
    if 0 in array.shape:
        raise DataError(f"Expected images, got none: shape {array.shape}", at=at)
    if array.shape[1] in (1, 3) and array.shape[3] not in (1, 3, 4):
        raise DataError(
            f"Expected the channels last, got shape {array.shape}", at=at, hint="images.transpose(0, 2, 3, 1)"
        )
    return array


def _to_bytes(array: NDArray[Any]) -> str:
    if array.dtype.kind in "iu" and array.size and array.min() >= 0 and array.max() <= LARGEST_BYTE:
        return "They fit: numpy.asarray(images, 'uint8')."
    return "Where they run from 0 to 1: (images * 255).round().astype('uint8'). Luthier normalises by itself."


def as_labels(value: ArrayLike, *, at: str) -> NDArray[Any]:
    """Whole numbers of any width, one an image."""
    array = _array(value, "one whole number an image", at)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DataError(f"Expected one whole number an image, got {array.dtype} of shape {array.shape}", at=at)
    return array


def _array(value: ArrayLike, expected: str, at: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # lists of various lengths; a tensor on another device
        reason = str(error).partition(". ")[0]
        raise DataError(
            f"Expected {expected}, NumPy makes no array of this {type(value).__name__}: {reason}", at=at
        ) from None
