"""The files of a part, opened: what is missing, damaged or of another kind is named here."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from mmap import ACCESS_READ, mmap
from pathlib import Path

import msgspec
import numpy as np

from luthier.data.mindrecord.layout import BLOB, INDEX_COLUMNS, LENGTH, LENGTH_BYTES, Head, index_of
from luthier.data.mindrecord.records import AGAIN, Places, Records, Shard
from luthier.errors import DataError

__all__ = ["open_shards"]

IMAGES = ("image", "data")  # MindSpore's own converters say `data`


def open_shards(first: Path) -> Records:
    """The part that a file belongs to: it names all of them."""
    names = _head(first).shard_addresses
    if first.name not in names:
        raise DataError(
            f"The MindRecord file says that it is one of {', '.join(names[:3]) or 'none'}",
            at=str(first),
            hint="MindRecord files keep the names that they were written under.",
        )
    missing = [name for name in names if not (first.parent / name).is_file()]
    if missing:
        raise DataError(
            f"Of {len(names)} MindRecord files {len(missing)} are missing: {', '.join(missing[:3])}",
            at=str(first.parent),
            hint=AGAIN,
        )
    shards = tuple(_open(first.parent / name) for name in names)
    for shard in shards[1:]:
        if shard.head.schema != shards[0].head.schema:
            raise DataError(
                f"The MindRecord files {shards[0].path.name} and {shard.path.name} have columns that differ",
                at=str(first.parent),
                hint=AGAIN,
            )
    return Records(shards=shards)


def _open(path: Path) -> Shard:
    head = _head(path)
    index = _index(path)
    content = _mapped(path)
    raw = head.header_size + index[:, [1, 1]] * head.page_size + index[:, [2, 3]]
    blobs = head.header_size + index[:, [5, 5]] * head.page_size + index[:, [6, 7]]
    for places in (raw, blobs):
        places[:, 0] += LENGTH_BYTES
    shard = Shard(path=path, head=head, image=_image_column(path, head), content=content, raw=raw, blobs=blobs)
    needed = max(int(raw.max(initial=0)), int(blobs.max(initial=0)))
    if len(content) < needed:
        raise shard.damaged(f"it ends at {len(content):,} bytes, and has rows up to {needed:,}")
    rows = sum(page.end_row_id - page.start_row_id for page in head.page if page.page_type == BLOB)
    if rows != len(index) or (index[:, 0] != np.arange(rows)).any():
        raise shard.damaged(f"it has {rows:,} rows, and its index {len(index):,}")
    if any((places[:, 1] < places[:, 0]).any() or (places[:, 0] < LENGTH_BYTES).any() for places in (raw, blobs)):
        raise shard.damaged("a row of its index begins or ends where none can")
    return shard


def _mapped(path: Path) -> mmap:
    """From here on the disk is read where a row is asked for; the mapping outlives the file's handle."""
    with path.open("rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def _head(path: Path) -> Head:
    try:
        with path.open("rb") as file:
            (length,) = LENGTH.unpack(file.read(LENGTH_BYTES).ljust(LENGTH_BYTES, b"\xff"))
            text = file.read(length) if length < path.stat().st_size else b""
        return msgspec.json.decode(text, type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError("Not a MindRecord file that can be read", at=str(path), hint=AGAIN) from error
    except OSError as error:
        raise DataError(f"Could not read the MindRecord file: {error.strerror}", at=str(path)) from error


def _image_column(path: Path, head: Head) -> str:
    """Encoded images in one column, whole numbers in another."""
    columns = head.schema[0].schema if head.schema else {}
    image = next((name for name in IMAGES if name in columns and columns[name].type == "bytes"), None)
    label = columns.get("label")
    if image is None or label is None or label.type not in ("int32", "int64") or label.shape:
        found = ", ".join(
            f"{name} ({column.type}{list(column.shape) if column.shape else ''})" for name, column in columns.items()
        )
        raise DataError(
            f"Expected the columns image (bytes) and label (int32), found {found or 'none'}",
            at=str(path),
            hint="Luthier reads images that are encoded, such as JPEG files, and one label each.",
        )
    return image


def _index(path: Path) -> Places:
    """The index, a row for each row of the file."""
    file = index_of(path)
    if not file.is_file():
        raise DataError(f"The index {file.name} is missing beside the MindRecord file", at=str(path), hint=AGAIN)
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            rows = database.execute(f"SELECT {', '.join(INDEX_COLUMNS)} FROM INDEXES ORDER BY ROW_ID").fetchall()
            owner = database.execute("SELECT NAME FROM SHARD_NAME").fetchone()
    except sqlite3.Error as error:
        raise DataError(f"Not an index that can be read: {error}", at=str(file), hint=AGAIN) from error
    if not owner or owner[0] != path.name:
        raise DataError(
            f"The index belongs to {owner[0] if owner else 'no file'}, not to {path.name}",
            at=str(file),
            hint="MindRecord files keep the names that they were written under.",
        )
    try:
        return np.array(rows, np.int64).reshape(len(rows), len(INDEX_COLUMNS))
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("Not an index that can be read: it holds no whole numbers", at=str(file), hint=AGAIN) from error
