"""MNIST, Fashion-MNIST and whatever else comes in four idx files, gzipped or not."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from luthier.data.checking import check_labels
from luthier.data.downloads import Download, RemoteFile
from luthier.data.entry import Outline
from luthier.data.places import Place
from luthier.data.registry import register
from luthier.data.source import Part, Source
from luthier.errors import DataError

SPLIT_FOLDERS = ("", "train", "eval", "test")
UNSIGNED_BYTES = 8  # idx's code for the type of its numbers
GZIP = 31  # zlib's window, and gzip's head and sum around it


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the sets differ in: names."""

    classes: tuple[str, ...]
    names: tuple[str, ...]  # of the folder below the data root
    folders: tuple[str, ...] = ("raw",)  # inside it, as torchvision leaves them


MNIST = Layout(classes=tuple("0123456789"), names=("mnist", "MNIST", "MNIST_Data"))
FASHION_MNIST = Layout(
    classes=(
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ),
    names=("fashion-mnist", "fashion_mnist", "fashionmnist", "FashionMNIST"),
)  # fmt: skip


def open_mnist(place: Place, *, layout: Layout) -> Source:
    """The first folder that has any of the four files decides."""
    for folder in place.search(layout.names, layout.folders):
        if any(spellings(folder, name) for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte")):
            return Source(
                name=place.name,
                classes=layout.classes,
                train=_read_part(folder, "train", len(layout.classes)),
                eval=_read_part(folder, "t10k", len(layout.classes)),
                place=folder,
            )
    raise place.missing()


def spellings(folder: Path, name: str) -> list[Path]:
    """The file under any name that it is known by: with a dot before idx, gzipped, in a folder for its split."""
    names = [plain + suffix for plain in (name, name.replace("-idx", ".idx")) for suffix in ("", ".gz")]
    return [path for split in SPLIT_FOLDERS for name in names if (path := folder / split / name).is_file()]


def _read_part(folder: Path, split: str, num_classes: int) -> Part:
    image_path, label_path = _files(folder, f"{split}-images-idx3-ubyte", f"{split}-labels-idx1-ubyte")
    images, labels = read_idx(image_path, dimensions=3), read_idx(label_path, dimensions=1)
    if len(images) != len(labels):
        raise DataError(f"Expected a label for each of {len(images):,} images, got {len(labels):,}", at=str(label_path))
    check_labels(labels, num_classes, at=str(label_path))
    return Part(images=images[..., None], labels=labels.astype(np.int32))


def _files(folder: Path, *names: str) -> Iterator[Path]:
    for name in names:
        there = spellings(folder, name)
        if not there:
            raise DataError(f"The file {name} or {name}.gz is missing", at=str(folder))
        yield there[0]


def read_idx(path: Path, *, dimensions: int) -> NDArray[np.uint8]:
    """The numbers in an idx file: two zeros, type, number of dimensions, each as a big-endian word, then bytes."""
    content = _unzipped(path) if path.suffix == ".gz" else path.read_bytes()
    head = 4 + 4 * dimensions
    if content[:4] != bytes((0, 0, UNSIGNED_BYTES, dimensions)) or len(content) < head:
        raise DataError(f"Not an idx file of bytes in {dimensions} dimensions", at=str(path))
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", dimensions, offset=4))
    expected = head + prod(shape)
    if len(content) != expected:
        unzipped = " when unzipped" if path.suffix == ".gz" else ""
        raise DataError(
            f"Expected {expected:,} bytes{unzipped}, got {len(content):,}",
            at=str(path),
            hint="It may be half downloaded; fetch it again.",
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)


def _unzipped(path: Path) -> bytes:
    """What can be unzipped, also of a file that ends early: its size then shows in the error."""
    try:
        return zlib.decompressobj(GZIP).decompress(path.read_bytes())
    except zlib.error as error:
        raise DataError(f"Not a whole gzip file: {error}", at=str(path), hint="Fetch it again.") from error


def _outline(layout: Layout) -> Outline:
    return Outline(shape=(28, 28, 1), classes=layout.classes, num_train=60_000)


def _files_at(*places: str, **md5: str) -> Download:
    files = {f"{key.replace('_', '-')}-ubyte.gz": value for key, value in md5.items()}
    return Download(
        files=tuple(
            RemoteFile(name=name, urls=tuple(place + name for place in places), checksum=f"md5:{value}")
            for name, value in files.items()
        )
    )


register(
    "mnist",
    partial(open_mnist, layout=MNIST),
    outline=_outline(MNIST),
    download=_files_at(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        train_images_idx3="f68b3c2dcbeaaa9fbdd348bbdeb94873",
        train_labels_idx1="d53e105ee54ea40749a09fcbcd1e9432",
        t10k_images_idx3="9fb629c4189551a2d022fa330f9573f3",
        t10k_labels_idx1="ec29112dd5afa0611ce80d1b7f02629c",
    ),
)
register(
    "fashion-mnist",
    partial(open_mnist, layout=FASHION_MNIST),
    outline=_outline(FASHION_MNIST),
    download=_files_at(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        train_images_idx3="8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        train_labels_idx1="25c81989df183df01b3e8a0aad5dffbe",
        t10k_images_idx3="bef4ecab320f06d8554ea6380940ec79",
        t10k_labels_idx1="bb300cfdad3c16e7a12a480ee83cd310",
    ),
)
