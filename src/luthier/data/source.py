"""A data set as its files have it: classes, and a training and an evaluation part, before any transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from luthier.data.batch import Images, Labels
from luthier.data.decoding import decode, image_size, printable
from luthier.errors import DataError, unknown

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Files", "Part", "Pictures", "Samples", "Source", "spread"]

Value = TypeVar("Value")


class Pictures(Protocol):
    """Images that are encoded, as files are, and read when they are needed."""

    @property
    def folder(self) -> Path:
        """Where they lie."""

    def __len__(self) -> int: ...

    def where(self, index: int) -> str:
        """The place of an image, for whoever reads of it."""

    def name(self, index: int) -> str:
        """The file's name that an image has or had; empty where it never had one."""

    def content(self, index: int) -> bytes:
        """The bytes of an image, as they are encoded."""

    def num_bytes(self, index: int) -> int:
        """How many those are."""

    def picture(self, index: int) -> Image.Image:
        """An image in colour, whatever it holds."""

    def size(self, index: int) -> tuple[int, int]:
        """Height and width."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Files:
    """Image files. Names relative to one folder keep a million of them small."""

    folder: Path
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def path(self, index: int) -> Path:
        """The file of an image."""
        return self.folder / self.names[index]

    def where(self, index: int) -> str:
        """Its path."""
        return printable(self.path(index))

    def name(self, index: int) -> str:
        """Relative to the folder."""
        return printable(self.names[index])

    def content(self, index: int) -> bytes:
        """The file's."""
        return self._of(index, Path.read_bytes)

    def num_bytes(self, index: int) -> int:
        """The file's."""
        return self._of(index, lambda path: path.stat().st_size)

    def picture(self, index: int) -> Image.Image:
        """Decoded."""
        return decode(self.path(index))

    def size(self, index: int) -> tuple[int, int]:
        """From the file's head alone."""
        return image_size(self.path(index))

    def _of(self, index: int, read: Callable[[Path], Value]) -> Value:
        try:
            return read(self.path(index))
        except OSError as error:
            raise DataError(f"Could not read the image file: {error.strerror}", at=self.where(index)) from error


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Images, whole in memory as one array or encoded, and a label each."""

    images: Images | Pictures
    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)


class Samples(NamedTuple):
    """Images to look at, one array or of sizes of their own, and their labels."""

    images: Sequence[Images] | Images
    labels: Labels


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """What a source gives."""

    name: str
    classes: tuple[str, ...]
    train: Part
    eval: Part
    place: Path | None = None  # where its files are

    def part(self, split: str) -> Part:
        """The part of that name."""
        parts = {"train": self.train, "eval": self.eval}
        if split not in parts:
            sentence, hint = unknown("part", split, parts)
            raise DataError(sentence, hint=hint)
        return parts[split]

    def sample(self, split: str, count: int) -> Samples:
        """Images as they are in the files, spread over the part, because files are often sorted by class."""
        part = self.part(split)
        chosen = spread(len(part), count)
        if isinstance(part.images, np.ndarray):
            return Samples(part.images[chosen], part.labels[chosen])
        return Samples([np.asarray(part.images.picture(index)) for index in chosen], part.labels[chosen])


def spread(size: int, count: int) -> list[int]:
    """At most `count` indices, evenly over a range."""
    count = min(count, size)
    return [index * size // count for index in range(count)]
