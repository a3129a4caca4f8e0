"""How a MindRecord file is laid out, as MindSpore 2.10 writes and reads it.

A file begins with eight bytes, the length of the JSON that follows: the head below. From `header_size` on come pages
of `page_size` bytes. A page of blobs holds rows, each its length in eight bytes and then the columns of type bytes; a
page of raw data holds the other columns of a row, as MessagePack, with their length before them too. Beside the file
lies an SQLite table, `<file>.db`, that says where each row stands. All lengths are little-endian, but where a row has
several blobs each of them has its own length before it, big-endian.
"""

from __future__ import annotations

import struct
from pathlib import Path

import msgspec
from msgspec import Struct

__all__ = [
    "BLOB",
    "INDEX_COLUMNS",
    "INNER_LENGTH",
    "LENGTH",
    "LENGTH_BYTES",
    "RAW",
    "Column",
    "Contents",
    "Head",
    "Page",
    "RowGroup",
    "Schema",
    "index_of",
    "shard_names",
]

BLOB, RAW = "BLOB_DATA", "RAW_DATA"
LENGTH, INNER_LENGTH = struct.Struct("<Q"), struct.Struct(">Q")
LENGTH_BYTES = LENGTH.size
INDEX_COLUMNS = (
    "ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END",
    "ROW_GROUP_ID", "PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END",
)  # fmt: skip


class RowGroup(Struct, frozen=True, kw_only=True):
    """Rows whose raw data begin at an offset of a page."""

    id: int
    offset: int


class Page(Struct, frozen=True, kw_only=True):
    """A page, and how much of it is used."""

    page_id: int
    page_type: str
    page_size: int
    shard_id: int = 0
    page_type_id: int = 0
    row_group_ids: tuple[RowGroup, ...] = ()
    start_row_id: int = 0
    end_row_id: int = 0


class Column(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes, string, int32, int64, float32 or float64; numbers with a shape are blobs too."""

    type: str
    shape: tuple[int, ...] | None = None


class Schema(Struct, frozen=True, kw_only=True):
    """The columns, those of them that are blobs, and a text of the writer's own."""

    schema: dict[str, Column]
    blob_fields: tuple[str, ...] = ()
    desc: str = ""


class IndexField(Struct, frozen=True, kw_only=True):
    """A column that the index has too."""

    index_field: str
    schema_id: int = 0


class Head(Struct, frozen=True, kw_only=True):
    """What a file says of itself, and of those that belong with it."""

    header_size: int
    page_size: int
    page: tuple[Page, ...]
    schema: tuple[Schema, ...]
    shard_addresses: tuple[str, ...]
    shard_id: int
    index_fields: tuple[IndexField, ...] = (IndexField(index_field="label"),)
    compression_size: int = 0
    statistics: None = None
    version: str = "3.0"


class Contents(Struct, frozen=True, kw_only=True):
    """What Luthier writes into `desc`, so that the files alone tell the whole set."""

    luthier: int = 1  # the version of this record
    set: str
    classes: tuple[str, ...]
    pixels: bool  # written from one array; otherwise the images are files as they were found

    @staticmethod
    def of(text: str) -> Contents | None:
        """None where someone else wrote the file."""
        try:
            return msgspec.json.decode(text, type=Contents)
        except msgspec.DecodeError:
            return None


def shard_names(stem: str, count: int) -> tuple[str, ...]:
    """As MindSpore numbers them: not at all where there is one."""
    digits = len(str(count - 1))
    return tuple(f"{stem}{number:0{digits}}" for number in range(count)) if count > 1 else (stem,)


def index_of(file: Path) -> Path:
    """The table beside a file."""
    return file.with_name(f"{file.name}.db")
