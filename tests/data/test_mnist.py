from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from luthier.data import open_source
from luthier.errors import DataError


def idx(array: NDArray[np.uint8]) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def contents(count: int = 30) -> dict[str, bytes]:
    draw = np.random.default_rng(0)
    sizes = {"train": count, "t10k": count // 3}
    images = {
        f"{split}-images-idx3-ubyte": idx(draw.integers(0, 256, (n, 28, 28), np.uint8)) for split, n in sizes.items()
    }
    labels = {f"{split}-labels-idx1-ubyte": idx((np.arange(n) % 10).astype(np.uint8)) for split, n in sizes.items()}
    return images | labels


def write(folder: Path, files: dict[str, bytes], *, packed: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("mnist", "mnist"),
        ("mnist", "MNIST/raw"),
        ("fashion-mnist", "fashion-mnist"),
        ("fashion-mnist", "FashionMNIST/raw"),
    ],
)
def test_idx_files_are_read_in_every_usual_folder_packed_or_not(
    tmp_path: Path, name: str, folder: str, packed: bool
) -> None:
    write(tmp_path / folder, contents(), packed=packed)
    source = open_source(name, root=tmp_path)
    assert isinstance(source.train.images, np.ndarray)
    assert source.train.images.shape == (30, 28, 28, 1)
    assert source.train.images.tobytes() == contents()["train-images-idx3-ubyte"][16:]
    assert source.eval.labels.tolist() == list(range(10))
    assert len(source.classes) == 10
    assert source.place == tmp_path / folder


def test_files_with_a_dot_before_idx_and_files_split_into_folders_are_known(tmp_path: Path) -> None:
    for name, content in contents().items():
        folder = tmp_path / "mnist" / ("train" if name.startswith("train") else "test")
        write(folder, {name.replace("-idx", ".idx"): content})
    assert len(open_source("mnist", root=tmp_path).train) == 30


def test_one_set_is_never_taken_for_the_other(tmp_path: Path) -> None:
    write(tmp_path / "mnist", contents())
    write(tmp_path, contents())
    with pytest.raises(DataError, match="Data set 'fashion-mnist' was not found in"):
        open_source("fashion-mnist", root=tmp_path)


def test_the_real_set_is_read_whole(real_data: Path) -> None:
    source = open_source("mnist", root=real_data)
    assert (len(source.train), len(source.eval)) == (60_000, 10_000)
    assert source.train.labels[:5].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_ends_early_is_named_with_both_sizes(tmp_path: Path, packed: bool) -> None:
    write(tmp_path / "mnist", contents(), packed=packed)
    file = tmp_path / "mnist" / ("train-images-idx3-ubyte" + ".gz" * packed)
    file.write_bytes(file.read_bytes()[:9000])
    with pytest.raises(DataError, match=r"Expected 23,536 bytes( when unzipped)?, got [0-9],") as caught:
        open_source("mnist", root=tmp_path)
    assert caught.value.at == str(file)


def test_a_gzip_file_that_is_none_or_was_changed_is_named(tmp_path: Path) -> None:
    write(tmp_path / "mnist", contents(), packed=True)
    file = tmp_path / "mnist" / "t10k-labels-idx1-ubyte.gz"
    whole = file.read_bytes()
    for content in (b"<html>404</html>", whole[:-6] + b"\0" + whole[-5:]):
        file.write_bytes(content)
        with pytest.raises(DataError, match="Not a whole gzip file") as caught:
            open_source("mnist", root=tmp_path)
        assert caught.value.at == str(file)


@pytest.mark.parametrize("content", [b"", b"\0\0\x08\x01", b"\0\0\x0d\x01\0\0\0\x01\0", b"not an idx file at all"])
def test_a_file_of_another_format_is_named(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "mnist", contents() | {"train-labels-idx1-ubyte": content})
    with pytest.raises(DataError, match="Not an idx file of bytes in 1 dimensions") as caught:
        open_source("mnist", root=tmp_path)
    assert caught.value.at == str(tmp_path / "mnist" / "train-labels-idx1-ubyte")


def test_a_missing_file_labels_out_of_range_and_labels_too_few_are_named(tmp_path: Path) -> None:
    labels = np.zeros(30, np.uint8)
    for replacement, sentence in (
        (idx(labels[:29]), "Expected a label for each of 30 images, got 29"),
        (idx(labels + np.uint8(10)), "Expected labels from 0 to 9, got 10 for image 0"),
        (None, "The file train-labels-idx1-ubyte or train-labels-idx1-ubyte.gz is missing"),
    ):
        write(tmp_path / "mnist", contents())
        file = tmp_path / "mnist" / "train-labels-idx1-ubyte"
        if replacement is None:
            file.unlink()
        else:
            file.write_bytes(replacement)
        with pytest.raises(DataError) as caught:
            open_source("mnist", root=tmp_path)
        assert caught.value.sentence == sentence
