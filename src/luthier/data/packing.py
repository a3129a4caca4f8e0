"""A data set as MindRecord files: a folder that is there whole or not at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from luthier.data.checking import checked
from luthier.data.mindrecord.layout import Column, Contents, Schema, shard_names
from luthier.data.mindrecord.netpbm import head
from luthier.data.mindrecord.writing import LARGEST_PAGE, ShardWriter, Sizes
from luthier.data.registry import open_source
from luthier.data.source import Part, Source
from luthier.errors import DataError

__all__ = ["pack"]

MOST_SHARDS = 1000  # that MindSpore reads
TOLD_EVERY = 100  # images
Progress = Callable[[str, int, int], None]  # a part's name, its images so far and in all


def pack(
    source: str | Source,
    output: str | Path,
    *,
    shards: int = 1,
    path: str = "",
    root: str | Path | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write a set's training and evaluation part, each as so many files, into a new folder.

    Class folders keep their files' bytes as they are; arrays become images of PGM, PPM or PAM, which lose nothing. In
    training `data.name = "mindrecord"` with `data.path` gives the batches that the set itself gives, to the bit.
    """
    output = Path(output)
    if os.path.lexists(output):
        raise DataError("There is something already", at=str(output), hint="Remove it, or name another output.")
    source = open_source(source, path=path, root=root) if isinstance(source, str) else checked(source)
    _check(source, shards)
    aside = output.with_name(f".{output.name}.partial")
    try:
        shutil.rmtree(aside, ignore_errors=True)  # what a killed writer left
        aside.mkdir(parents=True)
        try:
            for split in ("train", "eval"):
                _PartWriter(source=source, split=split, folder=aside, shards=shards, progress=progress).write()
            os.replace(aside, output)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise DataError(f"Could not write the files: {error.strerror or error}", at=str(output)) from error
    except sqlite3.Error as error:  # a full disk, as the index says it
        raise DataError(f"Could not write the files: {error}", at=str(output)) from error
    return output


def _check(source: Source, shards: int) -> None:
    if not 1 <= shards <= MOST_SHARDS:
        raise DataError(f"Expected from 1 to {MOST_SHARDS:,} shards, got {shards:,}")
    for split in ("train", "eval"):
        if shards > len(source.part(split)):
            raise DataError(
                f"Expected at most {len(source.part(split)):,} shards, one an image of the {split} part, got {shards:,}"
            )


@dataclass(frozen=True, kw_only=True)
class _PartWriter:
    """One part on its way into files."""

    source: Source
    split: str
    folder: Path
    shards: int
    progress: Progress | None

    @property
    def part(self) -> Part:
        return self.source.part(self.split)

    def write(self) -> None:
        """Each file has images that follow each other, so that all of them have the set's order."""
        names = shard_names(f"{self.split}.mindrecord", self.shards)
        schema, count = self._schema(), len(self.part)
        ends = [(number + 1) * count // self.shards for number in range(self.shards)]
        said = len(msgspec.json.encode((schema, names)))
        for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            sizes = self._sizes(range(start, end), said)
            with ShardWriter(self.folder, names, number, schema=schema, sizes=sizes) as writer:
                for index in range(start, end):
                    self._add(writer, index)
                    if self.progress and (index % TOLD_EVERY == 0 or index + 1 == count):
                        self.progress(self.split, index + 1, count)

    def _schema(self) -> Schema:
        pixels = isinstance(self.part.images, np.ndarray)
        contents = Contents(set=self.source.name, classes=self.source.classes, pixels=pixels)
        columns = {"image": Column(type="bytes"), "label": Column(type="int32")}
        if not pixels:
            columns["file"] = Column(type="string")
        return Schema(schema=columns, blob_fields=("image",), desc=msgspec.json.encode(contents).decode())

    def _sizes(self, rows: range, said: int) -> Sizes:
        images = self.part.images
        if isinstance(images, np.ndarray):
            sizes = [len(head(images.shape[1:])) + images[0].size] * len(rows)
        else:
            sizes = [images.num_bytes(index) for index in rows]
        largest = max(sizes)
        if largest >= LARGEST_PAGE:
            place = "" if isinstance(images, np.ndarray) else images.where(rows[sizes.index(largest)])
            raise DataError(
                f"A MindRecord file takes images of up to {LARGEST_PAGE:,} bytes, got {largest:,}", at=place or None
            )
        return Sizes.of(rows=len(rows), total=sum(sizes), largest=largest, said=said)

    def _add(self, writer: ShardWriter, index: int) -> None:
        images, label = self.part.images, int(self.part.labels[index])
        if isinstance(images, np.ndarray):
            writer.add(label, head(images.shape[1:]) + images[index].tobytes())
        else:
            writer.add(label, images.content(index), file=images.name(index))
