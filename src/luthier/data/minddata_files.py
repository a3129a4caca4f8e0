"""Which files MindData reads a part from, and by which of its data sets; or why it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from luthier.data.mindrecord.records import Records
from luthier.data.source import Files, Source
from luthier.data.sources.cifar import CIFAR10, CIFAR100, candidates
from luthier.data.sources.mindrecord import first_file
from luthier.data.sources.mnist import spellings
from luthier.errors import DataError

__all__ = ["PartFiles", "part_files"]

NOT_DECODED = (".gif", ".webp")


@dataclass(frozen=True, kw_only=True)
class PartFiles:
    """What one of MindData's data sets is told."""

    kind: str  # of data set
    place: Path  # a folder, or the first of its files
    usage: str = ""  # MindData's name of the part
    image: str = "image"  # columns
    label: str = "label"
    label_type: str = "int32"
    encoded: bool = False
    suffixes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def part_files(name: str, source: Source, split: str) -> PartFiles:
    """The part `train` or `eval` of a set that a recipe names."""
    if name not in FINDERS:
        raise DataError(f"MindData cannot read '{name}'", at="data.name", hint=_pack(name, source))
    return FINDERS[name](name, source, split)


def _pack(name: str, source: Source) -> str:
    where = f" --path {source.place}" if source.place and name == "folder" else ""
    packed = f"{source.name.rpartition(':')[2]}.mindrecord"
    return (
        f"Pack it once: luthier data pack {name}{where} -o {packed}, "
        f'then set data.name = "mindrecord" and data.path = "{packed}".'
    )


def _cifar(name: str, source: Source, split: str) -> PartFiles:
    layout = CIFAR100 if name == "cifar100" else CIFAR10
    assert source.place is not None, "the publisher's files are in a folder"
    found = [candidates(source.place, f"{stem}.bin") for stem in (layout.train if split == "train" else layout.eval)]
    folders = {paths[0].parent if paths else None for paths in found}
    folder = folders.pop()
    if folder is None or folders:
        raise DataError(
            "MindData reads CIFAR's binary files alone, those of a part in one folder",
            at=str(source.place),
            hint=_pack(name, source),
        )
    usage = "train" if split == "train" else "test"
    label = "fine_label" if name == "cifar100" else "label"
    return PartFiles(kind=name, place=folder, usage=usage, label=label, label_type="uint32")


def _mnist(name: str, source: Source, split: str) -> PartFiles:
    assert source.place is not None, "the publisher's files are in a folder"
    stem = "train" if split == "train" else "t10k"
    names = (f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte")
    found = [next((path for path in spellings(source.place, each) if path.name == each), None) for each in names]
    if None in found or len({path.parent for path in found if path}) > 1:
        raise DataError(
            f"MindData reads MNIST's files unzipped and under these names alone: {' and '.join(names)}",
            at=str(source.place),
            hint=f"Unzip them with gunzip -k. {_pack(name, source)}",
        )
    assert found[0] is not None
    usage = "train" if split == "train" else "test"
    return PartFiles(kind="mnist", place=found[0].parent, usage=usage, label_type="uint32")


def _folder(name: str, source: Source, split: str) -> PartFiles:
    files = source.part(split).images
    assert isinstance(files, Files)
    suffixes = tuple(sorted({Path(file).suffix for file in files.names}))
    _refuse_undecoded(suffixes, files.folder)
    deeper = next((file for file in files.names if file.count("/") > 1), None)
    if deeper:
        raise DataError(
            f"MindData orders the images of folders inside a class otherwise, such as {deeper}",
            at=str(files.folder),
            hint=_pack(name, source),
        )
    return PartFiles(kind=name, place=files.folder, encoded=True, suffixes=suffixes, classes=source.classes)


def _mindrecord(name: str, source: Source, split: str) -> PartFiles:
    assert source.place is not None, "records are in a folder"
    images = source.part(split).images
    if isinstance(images, np.ndarray) and images.shape[3] not in (1, 3):
        raise DataError(f"MindData decodes images of 1 or 3 channels, these have {images.shape[3]}", at="data.name")
    image, label_type = "image", "int32"
    if isinstance(images, Records):
        _refuse_undecoded(images.suffixes, source.place)
        image = images.shards[0].image
        label_type = images.shards[0].head.schema[0].schema["label"].type
    place = first_file(source.place, split)
    return PartFiles(kind=name, place=place, image=image, label_type=label_type, encoded=True)


def _refuse_undecoded(suffixes: Iterable[str], place: Path) -> None:
    """By their names: MindData itself would fail in the middle, and leave a file in the working folder."""
    unread = sorted(suffix for suffix in suffixes if suffix.lower() in NOT_DECODED)
    if unread:
        raise DataError(
            f"MindData decodes no {' or '.join(unread)} files", at=str(place), hint='Set data.pipeline = "luthier".'
        )


FINDERS: dict[str, Callable[[str, Source, str], PartFiles]] = {
    "cifar10": _cifar,
    "cifar100": _cifar,
    "fashion-mnist": _mnist,
    "folder": _folder,
    "mindrecord": _mindrecord,
    "mnist": _mnist,
}
