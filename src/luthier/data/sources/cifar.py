"""CIFAR-10 and CIFAR-100 in the publisher's binary and Python layouts, also split into train/ and eval/ folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from luthier.data.batch import Images, Labels
from luthier.data.checking import check_labels
from luthier.data.downloads import Download, RemoteFile
from luthier.data.entry import Outline
from luthier.data.places import Place
from luthier.data.registry import register
from luthier.data.source import Part, Source
from luthier.data.sources.cifar100_classes import CLASSES as CIFAR100_CLASSES
from luthier.data.unpickling import unpickle
from luthier.errors import DataError

SIDE, CHANNELS = 32, 3
PIXELS = SIDE * SIDE * CHANNELS
SPLIT_FOLDERS = ("", "train", "eval", "test")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the two sets differ in. The binary files have `.bin` behind the Python files' names."""

    classes: tuple[str, ...]
    folders: tuple[str, ...]  # the publisher's
    train: tuple[str, ...]
    eval: tuple[str, ...]
    images_a_file: dict[str, int]
    label_bytes: int  # the last of them is the label; CIFAR-100 has the coarse one before it
    label_key: str


CIFAR10 = Layout(
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    folders=("cifar-10-batches-bin", "cifar-10-batches-py"),
    train=tuple(f"data_batch_{number}" for number in range(1, 6)),
    eval=("test_batch",),
    images_a_file={"test_batch": 10_000, **{f"data_batch_{number}": 10_000 for number in range(1, 6)}},
    label_bytes=1,
    label_key="labels",
)
CIFAR100 = Layout(
    classes=CIFAR100_CLASSES,
    folders=("cifar-100-binary", "cifar-100-python"),
    train=("train",),
    eval=("test",),
    images_a_file={"train": 50_000, "test": 10_000},
    label_bytes=2,
    label_key="fine_labels",
)


def open_cifar(place: Place, *, layout: Layout) -> Source:
    """The first folder that has any of the set's files decides; from then on each must be there and whole."""
    for folder in place.search((place.name, *layout.folders), layout.folders):
        for suffix in (".bin", ""):
            if any(candidates(folder, stem + suffix) for stem in (*layout.train, *layout.eval)):
                return Source(
                    name=place.name,
                    classes=layout.classes,
                    train=_read_part(folder, layout.train, suffix, layout),
                    eval=_read_part(folder, layout.eval, suffix, layout),
                    place=folder,
                )
    raise place.missing()


def candidates(folder: Path, name: str) -> list[Path]:
    """The file of that name, wherever in the set's folder it is."""
    return [path for split in SPLIT_FOLDERS if (path := folder / split / name).is_file()]


def _read_part(folder: Path, stems: tuple[str, ...], suffix: str, layout: Layout) -> Part:
    """One array for all files, each turned to channels-last into its place: nothing is held twice but one file."""
    total = sum(layout.images_a_file[stem] for stem in stems)
    images = np.empty((total, SIDE, SIDE, CHANNELS), np.uint8)
    labels = np.empty(total, np.int32)
    end = 0
    for stem, path in _files(folder, stems, suffix):
        start, end = end, end + layout.images_a_file[stem]
        pixels, numbers = (_read_binary if suffix else _read_pickle)(path, end - start, layout)
        check_labels(numbers, len(layout.classes), at=str(path))
        images[start:end] = pixels.reshape(-1, CHANNELS, SIDE, SIDE).transpose(0, 2, 3, 1)
        labels[start:end] = numbers
    return Part(images=images, labels=labels)


def _files(folder: Path, stems: tuple[str, ...], suffix: str) -> Iterator[tuple[str, Path]]:
    for stem in stems:
        there = candidates(folder, stem + suffix)
        if not there:
            raise DataError(
                f"The file {stem}{suffix} is missing", at=str(folder), hint="Fetch or unpack the set again."
            )
        yield stem, there[0]


def _read_binary(path: Path, count: int, layout: Layout) -> tuple[Images, Labels]:
    record = layout.label_bytes + PIXELS
    expected, size = count * record, path.stat().st_size
    if size != expected:
        raise DataError(
            f"Expected {expected:,} bytes ({count:,} images), got {size:,}",
            at=str(path),
            hint="It may be half downloaded; fetch or unpack the set again.",
        )
    records = np.fromfile(path, np.uint8).reshape(count, record)
    return records[:, layout.label_bytes :], records[:, layout.label_bytes - 1].astype(np.int32)


def _read_pickle(path: Path, count: int, layout: Layout) -> tuple[Images, Labels]:
    content = unpickle(path)
    pixels, labels = content.get("data"), content.get(layout.label_key)
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape != (count, PIXELS):
        got = f"{pixels.dtype} of shape {pixels.shape}" if isinstance(pixels, np.ndarray) else type(pixels).__name__
        raise DataError(f"Expected 'data' as uint8 of shape ({count}, {PIXELS}), got {got}", at=str(path))
    if not isinstance(labels, list) or len(labels) != count or not all(isinstance(label, int) for label in labels):
        raise DataError(f"Expected '{layout.label_key}' as a list of {count:,} numbers", at=str(path))
    return pixels, np.array(labels, np.int64).astype(np.int32)


def _archive(name: str, sha256: str) -> Download:
    url = f"https://www.cs.toronto.edu/~kriz/{name}"
    return Download(files=(RemoteFile(name=name, urls=(url,), checksum=f"sha256:{sha256}"),), unpack=True)


register(
    "cifar10",
    partial(open_cifar, layout=CIFAR10),
    outline=Outline(shape=(SIDE, SIDE, CHANNELS), classes=CIFAR10.classes, num_train=50_000),
    download=_archive("cifar-10-binary.tar.gz", "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"),
)
register(
    "cifar100",
    partial(open_cifar, layout=CIFAR100),
    outline=Outline(shape=(SIDE, SIDE, CHANNELS), classes=CIFAR100.classes, num_train=50_000),
    download=_archive("cifar-100-binary.tar.gz", "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"),
)
