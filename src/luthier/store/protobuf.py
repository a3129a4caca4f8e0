"""The few words of protobuf's wire format that events are made of, so that recording needs no TensorBoard."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["double", "fields", "float32", "integer", "message", "varint"]

MASK = (1 << 64) - 1
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; a negative number is its 64-bit complement."""
    value &= MASK
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def integer(number: int, value: int) -> bytes:
    """Field `number` as int32, int64, bool or enum."""
    return varint(number << 3 | VARINT) + varint(value)


def double(number: int, value: float) -> bytes:
    """Field `number` as double."""
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def float32(number: int, value: float) -> bytes:
    """Field `number` as float; what is too great for one becomes infinite, as it does in C."""
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        packed = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    return varint(number << 3 | FIXED32) + packed


def message(number: int, content: bytes) -> bytes:
    """Field `number` as bytes, string, packed numbers or a message: all four look alike."""
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message as they come: a varint as a number, everything else as its bytes."""
    at = 0
    while at < len(content):
        key, at = _varint_at(content, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint_at(content, at)
            yield number, value
            continue
        if kind == BYTES:
            length, at = _varint_at(content, at)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise ValueError(f"Unknown wire type {kind}")
        if at + length > len(content):
            raise ValueError("A field ends beyond its message")
        yield number, content[at : at + length]
        at += length


def _varint_at(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content):
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & MASK, at
        shift += 7
    raise ValueError("A number ends beyond its message")
