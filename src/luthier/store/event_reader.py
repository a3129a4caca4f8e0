"""The scalars of an event file, without TensorBoard."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from luthier.errors import StoreError
from luthier.store.protobuf import fields
from luthier.store.tfrecord import payloads

__all__ = ["read_events"]

EVENT_STEP, EVENT_SUMMARY = 2, 5
SUMMARY_VALUE = 1
VALUE_TAG, VALUE_SCALAR = 1, 2


def read_events(path: Path) -> Iterator[tuple[int, str, float]]:
    """Step, tag and value of every scalar, in the order of the file; a record still being written ends it."""
    for payload in payloads(path):
        try:
            yield from _scalars(payload)
        except ValueError as error:
            raise StoreError(f"A record of the event file is no event: {error}", at=str(path)) from error


def _scalars(payload: bytes) -> Iterator[tuple[int, str, float]]:
    step, summary = 0, b""
    for number, value in fields(payload):
        if number == EVENT_STEP and isinstance(value, int):
            step = value - (1 << 64) if value >> 63 else value
        elif number == EVENT_SUMMARY and isinstance(value, bytes):
            summary = value
    for number, value in fields(summary):
        if number == SUMMARY_VALUE and isinstance(value, bytes):
            parts = dict(fields(value))
            tag, scalar = parts.get(VALUE_TAG, b""), parts.get(VALUE_SCALAR)
            if isinstance(tag, bytes) and isinstance(scalar, bytes):
                yield step, tag.decode(), struct.unpack("<f", scalar)[0]
