"""TensorBoard's events, encoded: the field numbers are those of its event.proto, summary.proto and tensor.proto.

Scalars, histograms and images take their first, compact form, which every TensorBoard since 2016 and every tool that
imports its files reads; text and tensors have only the later one.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.errors import StoreError
from luthier.store.histogram import Histogram
from luthier.store.protobuf import double, float32, integer, message

__all__ = ["event", "first_event", "histogram_value", "image_value", "scalar_value", "tensor_value", "text_value"]

DT_STRING = 7
DTYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
TEXT_METADATA = message(9, message(1, message(1, b"text")))


def first_event(wall_time: float) -> bytes:
    """What every event file begins with."""
    return double(1, wall_time) + message(3, b"brain.Event:2") + message(10, message(1, b"luthier"))


def event(wall_time: float, step: int, values: bytes) -> bytes:
    """One moment of a run, with any number of values."""
    return double(1, wall_time) + integer(2, step) + message(5, values)


def scalar_value(tag: str, value: float) -> bytes:
    """Kept as float32, like everything that TensorBoard draws."""
    return _value(tag, float32(2, value))


def histogram_value(tag: str, found: Histogram) -> bytes:
    """TensorBoard's histogram has no place for values that are not finite: their number is a scalar below its tag."""
    content = (
        double(1, found.minimum)
        + double(2, found.maximum)
        + double(3, found.count)
        + double(4, found.total)
        + double(5, found.total_squares)
        + message(6, found.limits.astype("<f8").tobytes())
        + message(7, found.counts.astype("<f8").tobytes())
    )
    others = (scalar_value(f"{tag}/{kind}", count) for kind, count in found.not_finite.items())
    return _value(tag, message(5, content)) + b"".join(others)


def image_value(tag: str, pixels: NDArray[Any]) -> bytes:
    """A picture, stored as PNG."""
    shape = pixels.shape if pixels.ndim == 3 else (*pixels.shape, 1)
    if pixels.dtype != np.uint8 or len(shape) != 3 or shape[2] not in (1, 3, 4) or 0 in shape:
        raise StoreError(
            f"Expected an image as uint8 of height, width and 1, 3 or 4 channels, got {pixels.dtype} {pixels.shape}",
            at=tag,
        )
    height, width, channels = shape
    content = integer(1, height) + integer(2, width) + integer(3, channels) + message(4, _png(pixels))
    return _value(tag, message(4, content))


def text_value(tag: str, text: str) -> bytes:
    """Shown as Markdown."""
    content = integer(1, DT_STRING) + message(2, b"") + message(8, text.encode())
    return _value(tag, TEXT_METADATA + message(8, content))


def tensor_value(tag: str, array: NDArray[Any]) -> bytes:
    """Kept to the bit for whoever reads the file; TensorBoard itself has no page for it."""
    if array.dtype.name not in DTYPES:
        raise StoreError(
            f"Cannot record a tensor of {array.dtype}", at=tag, hint=f"Known: {', '.join(sorted(DTYPES))}."
        )
    shape = b"".join(message(2, integer(1, size)) for size in array.shape)
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    content = integer(1, DTYPES[array.dtype.name]) + message(2, shape) + message(4, data)
    return _value(tag, message(8, content))


def _value(tag: str, content: bytes) -> bytes:
    return message(1, message(1, tag.encode()) + content)


def _png(pixels: NDArray[Any]) -> bytes:
    from PIL import Image

    one_channel = pixels.ndim == 3 and pixels.shape[2] == 1
    encoded = io.BytesIO()
    Image.fromarray(pixels[:, :, 0] if one_channel else pixels).save(encoded, "PNG")
    return encoded.getvalue()
