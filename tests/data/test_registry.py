from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import names, open_source
from luthier.data.sources.cifar import CIFAR10
from luthier.errors import DataError

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything; anybody else is somebody else already."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that anybody may look into, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)


def locked_mnist(root: Path) -> Path:
    file = root / "mnist" / "train-images-idx3-ubyte"
    file.parent.mkdir()
    file.write_bytes(bytes(16))
    (root / "mnist" / "train-labels-idx1-ubyte").write_bytes(bytes(8))
    return file


def locked_cifar10(root: Path) -> Path:
    (root / "cifar10").mkdir()
    file = root / "cifar10" / "data_batch_1.bin"
    with file.open("wb") as made:
        made.truncate(3073 * CIFAR10.images_a_file["data_batch_1"])
    return file


def locked_folder(root: Path) -> Path:
    folder = root / "folder" / "train" / "cat"
    folder.mkdir(parents=True)
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(folder / "0.png")
    (root / "folder" / "eval" / "cat").mkdir(parents=True)
    return folder


def locked_above(root: Path) -> Path:
    return locked_folder(root).parents[1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
@pytest.mark.parametrize("make", [locked_mnist, locked_cifar10, locked_folder, locked_above])
def test_a_file_or_a_folder_that_may_not_be_read_is_named(make: Callable[[Path], Path], place: Path) -> None:
    names()  # loads every source, whose modules may lie where nobody looks either
    locked = make(place)
    locked.chmod(0)
    name = make.__name__.removeprefix("locked_").replace("above", "folder")
    with as_nobody(), pytest.raises(DataError) as caught:
        open_source(name, path=str(place / name))
    assert caught.value.sentence == "Could not read the data set: Permission denied"
    assert str(caught.value.at).startswith(str(locked))


def test_a_path_that_no_system_takes_is_named() -> None:
    with pytest.raises(DataError, match="Could not read the data set: File name too long"):
        open_source("folder", path="a" * 300)
