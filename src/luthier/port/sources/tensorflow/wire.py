"""Protocol buffers read field by field: TensorFlow's own reader is seldom installed beside MindSpore."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["fields", "integer", "text"]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST = 10  # bytes of a number


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Every field's number and value; ValueError where the message is none."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        field, kind = key >> 3, key & 7
        if field == 0:
            raise ValueError("a field without a number")
        if kind == VARINT:
            value, at = _number(message, at)
            yield field, value
            continue
        if kind == BYTES:
            length, at = _number(message, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        if at + length > len(message):
            raise ValueError("a field that is cut short")
        yield field, message[at : at + length]
        at += length


def text(value: int | memoryview) -> str:
    """A name; ValueError where it is none."""
    return bytes(_message(value)).decode("utf-8")


def integer(value: int | memoryview) -> int:
    """A signed number of 64 bits."""
    if not isinstance(value, int):
        raise ValueError("bytes instead of a number")
    return value - (1 << 64) if value >= 1 << 63 else value


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number instead of bytes")
    return value


def _number(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for i in range(LONGEST):
        if at + i >= len(message):
            raise ValueError("a number that is cut short")
        byte = message[at + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    raise ValueError("a number that does not end")
