"""The files of one part as one list of encoded images, or as the one array that they were written from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from mmap import mmap
from os.path import splitext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from luthier.data.batch import Images, Labels
from luthier.data.decoding import decode_bytes, size_of_bytes
from luthier.data.mindrecord.layout import (
    INNER_LENGTH,
    LENGTH,
    LENGTH_BYTES,
    Contents,
    Head,
)
from luthier.data.mindrecord.netpbm import shape_and_start
from luthier.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["AGAIN", "Places", "Records", "Shard"]

AGAIN = "Copy or pack the set again."
Places = NDArray[np.int64]


class _Columns(Struct, frozen=True, kw_only=True):
    """What stands beside a row's image; what else there may be is not looked at."""

    label: Annotated[int, Meta(ge=-(2**31), lt=2**31)]
    file: str = ""


COLUMNS = msgspec.msgpack.Decoder(_Columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Shard:
    """A file and where its rows are, in bytes from its beginning, without the lengths before them."""

    path: Path
    head: Head
    image: str  # the column
    content: mmap  # the whole file
    raw: Places  # start and end, a row each
    blobs: Places

    def __len__(self) -> int:
        return len(self.blobs)

    def damaged(self, what: str) -> DataError:
        """The error that names the file."""
        return DataError(f"The MindRecord file is damaged: {what}", at=str(self.path), hint=AGAIN)

    def bytes_at(self, start: int, end: int, row: int) -> bytes:
        """A row's, whose number stands before them once more."""
        (length,) = LENGTH.unpack_from(self.content, start - LENGTH_BYTES)
        if length != end - start:
            raise self.damaged(f"row {row} is of {length:,} bytes, and by the index of {end - start:,}")
        return self.content[start:end]

    def file_name(self, row: int) -> str:
        """Of the file that a row's image was."""
        start, end = self.raw[row].tolist()
        return self._columns(row, start, end).file

    def _columns(self, row: int, start: int, end: int) -> _Columns:
        try:
            return COLUMNS.decode(self.bytes_at(start, end, row))
        except msgspec.DecodeError as error:
            raise self.damaged(f"row {row} cannot be read: {error}") from error

    def encoded(self, row: int) -> bytes:
        """A row's image."""
        start, end = self.blobs[row].tolist()
        blob, blobs = self.bytes_at(start, end, row), self.head.schema[0].blob_fields
        if len(blobs) == 1:
            return blob
        for column in blobs:
            (length,) = INNER_LENGTH.unpack_from(blob)
            if column == self.image:
                return blob[INNER_LENGTH.size : INNER_LENGTH.size + length]
            blob = blob[INNER_LENGTH.size + length :]
        raise self.damaged(f"row {row} has no column '{self.image}'")

    @cached_property
    def labels_and_suffixes(self) -> tuple[Labels, frozenset[str]]:
        """The label of every row, and how the names of the files end that the images were."""
        rows = [self._columns(row, start, end) for row, (start, end) in enumerate(self.raw.tolist())]
        return np.array([row.label for row in rows], np.int32), frozenset(splitext(row.file)[1] for row in rows)

    @property
    def labels(self) -> Labels:
        """Of every row."""
        return self.labels_and_suffixes[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Encoded images in record files, in the order of the files."""

    shards: tuple[Shard, ...]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(shard) for shard in self.shards))

    @property
    def folder(self) -> Path:
        """The files' own."""
        return self.shards[0].path.parent

    @property
    def contents(self) -> Contents | None:
        """What Luthier wrote of the set."""
        return Contents.of(self.shards[0].head.schema[0].desc)

    @property
    def labels(self) -> Labels:
        """Of all images."""
        return np.concatenate([shard.labels for shard in self.shards])

    @property
    def suffixes(self) -> set[str]:
        """How the names of the files end that the images were."""
        return set().union(*(shard.labels_and_suffixes[1] for shard in self.shards))

    def __len__(self) -> int:
        return self._ends[-1]

    def _row(self, index: int) -> tuple[Shard, int]:
        number = bisect_right(self._ends, index)
        return self.shards[number], index - (self._ends[number - 1] if number else 0)

    def where(self, index: int) -> str:
        """The file and the row, and the file that the image came from."""
        shard, row = self._row(index)
        name = self.name(index)
        return f"{shard.path}, row {row}" + (f" ({name})" if name else "")

    def name(self, index: int) -> str:
        """The name of the file that it was."""
        shard, row = self._row(index)
        return shard.file_name(row)

    def content(self, index: int) -> bytes:
        """The image as it is encoded."""
        shard, row = self._row(index)
        return shard.encoded(row)

    def num_bytes(self, index: int) -> int:
        """At most: a row may have more than the image."""
        shard, row = self._row(index)
        start, end = shard.blobs[row].tolist()
        return int(end - start)

    def picture(self, index: int) -> Image.Image:
        """Decoded."""
        return decode_bytes(self.content(index), at=self.where(index))

    def size(self, index: int) -> tuple[int, int]:
        """From the image's head alone."""
        return size_of_bytes(self.content(index), at=self.where(index))

    def array(self) -> Images:
        """All pixels, of images that have one shape and were written as pixels."""
        known = shape_and_start(self.content(0))
        if known is None:
            raise self.shards[0].damaged("row 0 is not the pixels that it should be")
        shape, start = known
        images = np.empty((len(self), *shape), np.uint8)
        begin = self.content(0)[:start]
        end = 0
        for shard in self.shards:
            first, end = end, end + len(shard)
            _copy_pixels(shard, images[first:end], begin)
        return images


def _copy_pixels(shard: Shard, images: Images, head: bytes) -> None:
    """Page by page: there the rows follow each other, all of one length."""
    length = len(head) + images[0].size
    whole = LENGTH.pack(length) + head
    starts = shard.blobs[:, 0] - LENGTH_BYTES
    cuts = [0, *(np.flatnonzero(np.diff(starts) != LENGTH_BYTES + length) + 1).tolist(), len(starts)]
    for first, end in pairwise(cuts):
        size = (end - first) * (LENGTH_BYTES + length)
        rows = np.frombuffer(shard.content, np.uint8, size, offset=int(starts[first])).reshape(end - first, -1)
        wrong = np.flatnonzero((rows[:, : len(whole)] != np.frombuffer(whole, np.uint8)).any(axis=1))
        if len(wrong):
            raise shard.damaged(f"row {first + int(wrong[0])} is not the pixels that it should be")
        images[first:end] = rows[:, len(whole) :].reshape(end - first, *images.shape[1:])
