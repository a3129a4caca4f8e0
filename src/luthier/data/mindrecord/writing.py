"""One file of a part: pages as they fill, then the head and the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import msgspec

from luthier.data.mindrecord.layout import (
    BLOB,
    INDEX_COLUMNS,
    LENGTH,
    LENGTH_BYTES,
    RAW,
    Head,
    Page,
    RowGroup,
    Schema,
    index_of,
)
from luthier.errors import DataError

__all__ = ["LARGEST_PAGE", "ShardWriter", "Sizes"]

SMALLEST_HEAD, SMALLEST_PAGE, LARGEST_PAGE = 1 << 14, 1 << 15, 1 << 28  # what MindSpore takes
USUAL_PAGE = 1 << 25
PAGES = 64  # about so many a file, so that the last one's unused rest is small
BYTES_A_PAGE = 400  # of the head, at most


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Of the head and of each page: powers of two."""

    head: int
    page: int

    @classmethod
    def of(cls, *, rows: int, total: int, largest: int, said: int) -> Sizes:
        """For so many rows and bytes of them, the largest row, and what the head says beside its pages."""
        page = max(SMALLEST_PAGE, min(USUAL_PAGE, _power(total // PAGES)), _power(largest + LENGTH_BYTES))
        pages = 4 * (total + rows * LENGTH_BYTES) // page + 4  # two neighbours hold more than one together
        return cls(head=max(SMALLEST_HEAD, _power(said + pages * BYTES_A_PAGE)), page=page)


def _power(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length()


@dataclass(kw_only=True)
class _Group:
    """The rows of one page of blobs, which must find their raw data together on another."""

    first: int  # row
    blob_ends: list[int] = field(default_factory=list)
    raw_ends: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)

    def fits(self, blob: int, raw: int, page: int) -> bool:
        return (self.blob_ends or [0])[-1] + blob <= page and len(self.raw) + raw <= page


class ShardWriter:
    """Rows go in by `add`; on the way out of its `with` the file is whole and on disk."""

    def __init__(self, folder: Path, names: tuple[str, ...], number: int, *, schema: Schema, sizes: Sizes) -> None:
        self._path, self._names, self._number = folder / names[number], names, number
        self._schema, self._sizes = schema, sizes
        self._groups: list[_Group] = []
        self._rows = 0

    def __enter__(self) -> ShardWriter:
        self._file: BinaryIO = self._path.open("wb")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._file:
            if kind is None:
                self._finish()

    def add(self, label: int, image: bytes, **columns: str) -> None:
        """The next row: its label and image, and further columns of text."""
        raw = msgspec.msgpack.encode({"label": label, **columns})
        blob_size, raw_size = LENGTH_BYTES + len(image), LENGTH_BYTES + len(raw)
        if not self._groups or not self._groups[-1].fits(blob_size, raw_size, self._sizes.page):
            self._groups.append(_Group(first=self._rows))
            self._file.seek(self._start(len(self._groups) - 1))
        group = self._groups[-1]
        if not group.fits(blob_size, raw_size, self._sizes.page):
            raise DataError(f"A row of {blob_size:,} bytes does not fit a page of {self._sizes.page:,}")
        self._file.write(LENGTH.pack(len(image)))
        self._file.write(image)
        group.raw += LENGTH.pack(len(raw)) + raw
        group.blob_ends.append((group.blob_ends or [0])[-1] + blob_size)
        group.raw_ends.append(len(group.raw))
        group.labels.append(label)
        self._rows += 1

    def _start(self, page: int) -> int:
        return self._sizes.head + page * self._sizes.page

    def _finish(self) -> None:
        raw_pages = self._raw_pages()
        places = self._write_raw(raw_pages)
        pages = [
            Page(
                page_id=number, page_type=BLOB, page_type_id=number, page_size=group.blob_ends[-1],
                shard_id=self._number, row_group_ids=(RowGroup(id=number, offset=0),),
                start_row_id=group.first, end_row_id=group.first + len(group.labels),
            )
            for number, group in enumerate(self._groups)
        ]  # fmt: skip
        for number, groups in enumerate(raw_pages):
            starts = tuple(RowGroup(id=group, offset=places[group][1]) for group in groups)
            used = sum(len(self._groups[group].raw) for group in groups)
            page_id = len(self._groups) + number
            pages.append(
                Page(page_id=page_id, page_type=RAW, page_type_id=number, page_size=used, shard_id=self._number,
                     row_group_ids=starts)
            )  # fmt: skip
        self._write_head(tuple(pages))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._write_index(places)

    def _raw_pages(self) -> list[list[int]]:
        """Which groups have their raw data on each page of it."""
        pages: list[list[int]] = []
        used = self._sizes.page
        for number, group in enumerate(self._groups):
            if used + len(group.raw) > self._sizes.page:
                pages.append([])
                used = 0
            pages[-1].append(number)
            used += len(group.raw)
        return pages

    def _write_raw(self, pages: list[list[int]]) -> dict[int, tuple[int, int]]:
        """Page and offset of each group's raw data."""
        places = {}
        for number, groups in enumerate(pages, start=len(self._groups)):
            self._file.seek(self._start(number))
            offset = 0
            for group in groups:
                places[group] = (number, offset)
                offset += self._file.write(self._groups[group].raw)
        return places

    def _write_head(self, pages: tuple[Page, ...]) -> None:
        head = Head(
            header_size=self._sizes.head,
            page_size=self._sizes.page,
            page=pages,
            schema=(self._schema,),
            shard_addresses=self._names,
            shard_id=self._number,
        )
        text = msgspec.json.encode(head)
        assert LENGTH_BYTES + len(text) <= self._sizes.head, "the head's size was reckoned for its pages"
        self._file.seek(0)
        self._file.write(LENGTH.pack(len(text)) + text)

    def _write_index(self, places: dict[int, tuple[int, int]]) -> None:
        path = index_of(self._path)
        with closing(sqlite3.connect(path)) as database, database:
            columns = ", ".join(f"{name} INT NOT NULL" for name in INDEX_COLUMNS)
            database.execute(f"CREATE TABLE INDEXES({columns}, INC_0 INT, label_0 INTEGER, PRIMARY KEY(ROW_ID, INC_0))")
            marks = ", ".join("?" * (len(INDEX_COLUMNS) + 2))
            database.executemany(f"INSERT INTO INDEXES VALUES({marks})", self._index_rows(places))
            database.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
            database.execute("INSERT INTO SHARD_NAME VALUES(?)", (self._path.name,))
        with path.open("rb") as file:
            os.fsync(file.fileno())

    def _index_rows(self, places: dict[int, tuple[int, int]]) -> Iterator[tuple[int, ...]]:
        for number, group in enumerate(self._groups):
            page, offset = places[number]
            raw, blob = pairwise([0, *group.raw_ends]), pairwise([0, *group.blob_ends])
            for row, ((start, end), found, label) in enumerate(zip(raw, blob, group.labels, strict=True), group.first):
                yield row, page, offset + start, offset + end, number, number, *found, 0, label
