"""TFRecord framing: length, its checksum, payload, its checksum; no header, so that appending is all there is to it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from luthier.errors import StoreError
from luthier.store.crc32c import masked

__all__ = ["OVERHEAD", "boundary", "framed", "payloads", "whole_length"]

HEADER = struct.Struct("<QI")
FOOTER = struct.Struct("<I")
OVERHEAD = HEADER.size + FOOTER.size  # bytes a record


class Span(NamedTuple):
    """One record of a file; no payload where a checksum is wrong, and no end where it is the length's."""

    start: int
    end: int | None
    payload: bytes | None


def framed(payload: bytes) -> bytes:
    """The payload as one record."""
    length = struct.pack("<Q", len(payload))
    return length + FOOTER.pack(masked(length)) + payload + FOOTER.pack(masked(payload))


def payloads(path: Path) -> Iterator[bytes]:
    """Every whole record; a last one that is cut short may be in the making, a wrong checksum is an error."""
    for span in _spans(path):
        if span.payload is None:
            raise _damaged(path, span.start)
        yield span.payload


def whole_length(path: Path) -> int:
    """How far the file is whole; only what a kill or a power cut leaves at its very end may be missing or wrong."""
    end = 0
    for span in _spans(path):
        if span.payload is None:
            if _is_torn_tail(path, span):
                break
            raise _damaged(path, span.start)
        end = span.end or end
    return end


def boundary(path: Path, length: int) -> bool:
    """Whether a record ends at this length; payloads are not checked, since a flush vouched for them."""
    return length == 0 or any(span.end == length for span in _spans(path, check=False))


def _spans(path: Path, *, check: bool = True) -> Iterator[Span]:
    start = 0
    with path.open("rb") as file:
        while len(header := file.read(HEADER.size)) == HEADER.size:
            length, checksum = HEADER.unpack(header)
            if masked(header[:8]) != checksum:
                yield Span(start, None, None)
                return
            body = file.read(length + FOOTER.size)
            if len(body) < length + FOOTER.size:
                return
            payload, end = body[:length], start + length + OVERHEAD
            if check and masked(payload) != FOOTER.unpack_from(body, length)[0]:
                yield Span(start, end, None)
                return
            yield Span(start, end, payload)
            start = end


def _is_torn_tail(path: Path, span: Span) -> bool:
    """A power cut leaves zeros where the file had grown but its bytes were not yet written."""
    if span.end is not None:
        return span.end == path.stat().st_size
    with path.open("rb") as file:
        file.seek(span.start)
        return not file.read().strip(b"\0")


def _damaged(path: Path, start: int) -> StoreError:
    return StoreError(
        f"The event file is damaged: wrong checksum in the record at byte {start:,}",
        at=str(path),
        hint="Move the file away: the run then goes on with a new one.",
    )
