"""One copy of a data set for all workers: its arrays as files that every process maps into its memory."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from luthier.data import Part, Source, open_source
from luthier.errors import StoreError
from luthier.recipe import Data

__all__ = ["open_shared", "share"]


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What the arrays do not tell."""

    name: str
    classes: tuple[str, ...]


def share(config: Data, data_root: str | None, folder: Path) -> Path | None:
    """Write the arrays; none where the images are files or records, which no process holds in memory anyway."""
    source = open_source(config.name, path=config.path, root=data_root)
    if not all(isinstance(part.images, np.ndarray) for part in (source.train, source.eval)):
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for split, part in (("train", source.train), ("eval", source.eval)):
            assert isinstance(part.images, np.ndarray)
            _write(folder / f"{split}-images.npy", part.images)
            _write(folder / f"{split}-labels.npy", part.labels)
        (folder / "names.json").write_bytes(msgspec.json.encode(Names(name=source.name, classes=source.classes)))
    except OSError as error:
        raise StoreError(f"Cannot share the data set: {error.strerror}", at=str(folder)) from error
    return folder


def _write(path: Path, array: NDArray[np.generic]) -> None:
    if not path.exists():
        aside = path.with_name(f".{path.name}.partial")
        with aside.open("wb") as file:
            np.save(file, np.ascontiguousarray(array))
        aside.replace(path)


@cache
def open_shared(folder: Path) -> Source:
    """The same set, its images where the operating system keeps the one copy of them."""
    names = msgspec.json.decode((folder / "names.json").read_bytes(), type=Names)

    def part(split: str) -> Part:
        images = np.load(folder / f"{split}-images.npy", mmap_mode="r")
        return Part(images=images.view(np.ndarray), labels=np.load(folder / f"{split}-labels.npy"))

    return Source(name=names.name, classes=names.classes, train=part("train"), eval=part("eval"))
