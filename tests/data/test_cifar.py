from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.data import Source, open_source
from luthier.data.places import Place
from luthier.data.sources.cifar import CIFAR100, Layout, open_cifar
from luthier.errors import DataError
from tests.data.conftest import SMALL_CIFAR10, write_binary_cifar

SMALL_CIFAR100 = replace(CIFAR100, images_a_file={"train": 100, "test": 20})


def opened(root: Path, layout: Layout = SMALL_CIFAR10, name: str = "cifar10", path: str = "") -> Source:
    return open_cifar(Place(name=name, path=path, root=root), layout=layout)


def assert_same(source: Source, expected: Source) -> None:
    assert source.classes == expected.classes
    for split in ("train", "eval"):
        part, other = source.part(split), expected.part(split)
        assert isinstance(part.images, np.ndarray)
        assert isinstance(other.images, np.ndarray)
        np.testing.assert_array_equal(part.images, other.images)
        np.testing.assert_array_equal(part.labels, other.labels)
        assert part.images.flags.c_contiguous
        assert part.labels.dtype == np.int32


def write_python_cifar(folder: Path, source: Source, layout: Layout, protocol: int) -> None:
    """As the publisher's script did, whose keys Python 3 reads as bytes."""
    folder.mkdir(parents=True)
    for stems, part in ((layout.train, source.train), (layout.eval, source.eval)):
        begin = 0
        for stem in stems:
            end = begin + layout.images_a_file[stem]
            pixels = np.asarray(part.images[begin:end]).transpose(0, 3, 1, 2).reshape(end - begin, -1)  # type: ignore[index]
            content = {
                b"data": pixels,
                layout.label_key.encode(): part.labels[begin:end].tolist(),
                b"batch_label": stem,
            }
            (folder / stem).write_bytes(pickle.dumps(content, protocol=protocol))
            begin = end


@pytest.mark.parametrize("place", ["cifar10", "cifar10/cifar-10-batches-bin", "cifar-10-batches-bin"])
def test_the_binary_layout_is_found_in_every_usual_folder(tmp_path: Path, place: str) -> None:
    expected = write_binary_cifar(tmp_path / place, SMALL_CIFAR10)
    source = opened(tmp_path)
    assert_same(source, expected)
    assert source.place == tmp_path / place


def test_the_binary_layout_may_be_split_into_train_and_eval(tmp_path: Path) -> None:
    expected = write_binary_cifar(tmp_path / "cifar10", SMALL_CIFAR10, ("train", "eval"))
    assert_same(opened(tmp_path), expected)


def test_the_recipes_path_leads_to_it_from_here_or_from_the_root(tmp_path: Path) -> None:
    expected = write_binary_cifar(tmp_path / "elsewhere" / "c10", SMALL_CIFAR10)
    assert_same(opened(tmp_path, path=str(tmp_path / "elsewhere" / "c10")), expected)
    assert_same(opened(tmp_path, path="elsewhere/c10"), expected)


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("layout", [SMALL_CIFAR10, SMALL_CIFAR100], ids=["cifar10", "cifar100"])
def test_the_python_layout_reads_as_the_binary_one_does(tmp_path: Path, layout: Layout, protocol: int) -> None:
    name = "cifar10" if layout is SMALL_CIFAR10 else "cifar100"
    expected = write_binary_cifar(tmp_path / "one" / name, layout)
    write_python_cifar(tmp_path / "other" / layout.folders[1], expected, layout, protocol)
    assert_same(opened(tmp_path / "one", layout, name), expected)
    assert_same(opened(tmp_path / "other", layout, name), expected)


def test_cifar100_has_the_publishers_hundred_fine_classes() -> None:
    assert len(set(CIFAR100.classes)) == 100
    assert list(CIFAR100.classes) == sorted(CIFAR100.classes)
    assert [CIFAR100.classes[number] for number in (0, 8, 49, 99)] == ["apple", "bicycle", "mountain", "worm"]


def test_the_real_set_is_read_whole(real_data: Path) -> None:
    source = open_source("cifar10", root=real_data)
    assert isinstance(source.train.images, np.ndarray)
    assert source.train.images.shape == (50_000, 32, 32, 3)
    assert np.bincount(source.train.labels).tolist() == [5_000] * 10
    assert np.bincount(source.eval.labels).tolist() == [1_000] * 10
    assert source.classes[source.train.labels[0]] == "frog"
    np.testing.assert_allclose(source.train.images.mean(axis=(0, 1, 2)) / 255, (0.4914, 0.4822, 0.4465), atol=1e-4)


def test_a_set_that_is_nowhere_says_where_was_looked_and_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        opened(tmp_path)
    assert str(tmp_path / "cifar10") in caught.value.sentence
    command = f"luthier data get cifar10 --data-root {tmp_path}"
    assert caught.value.hint == f"Run `{command}`, or set data.path to the folder that holds it."


def test_a_file_of_the_wrong_size_is_named_with_both_sizes(tmp_path: Path) -> None:
    write_binary_cifar(tmp_path / "cifar10", SMALL_CIFAR10)
    file = tmp_path / "cifar10" / "data_batch_3.bin"
    os.truncate(file, 50_000)
    with pytest.raises(DataError) as caught:
        opened(tmp_path)
    assert caught.value.sentence == "Expected 61,460 bytes (20 images), got 50,000"
    assert caught.value.at == str(file)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    write_binary_cifar(tmp_path / "cifar10", SMALL_CIFAR10)
    (tmp_path / "cifar10" / "data_batch_4.bin").unlink()
    with pytest.raises(DataError, match=r"The file data_batch_4\.bin is missing"):
        opened(tmp_path)


def test_a_label_out_of_range_is_named_with_its_file(tmp_path: Path) -> None:
    write_binary_cifar(tmp_path / "cifar10", SMALL_CIFAR10)
    file = tmp_path / "cifar10" / "test_batch.bin"
    content = bytearray(file.read_bytes())
    content[3073 * 7] = 10
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        opened(tmp_path)
    assert caught.value.sentence == "Expected labels from 0 to 9, got 10 for image 7"
    assert caught.value.at == str(file)


def _half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _with(**changes: Any) -> Callable[[bytes], bytes]:
    return lambda content: pickle.dumps({**pickle.load(io.BytesIO(content), encoding="bytes"), **changes})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_half, "Not a pickle of arrays alone"),
        (lambda content: b"", "Not a pickle of arrays alone"),
        (lambda content: pickle.dumps([1]), "Expected a dictionary, got list"),
        (
            _with(data=np.zeros((19, 3072), np.uint8)),
            "Expected 'data' as uint8 of shape (20, 3072), got uint8 of shape",
        ),
        (_with(data=None), "Expected 'data' as uint8 of shape (20, 3072), got NoneType"),
        (_with(labels=[1, 2]), "Expected 'labels' as a list of 20 numbers"),
        (_with(labels=[99] * 20), "Expected labels from 0 to 9, got 99 for image 0"),
    ],
)
def test_a_pickle_of_anything_else_is_named(tmp_path: Path, damage: Callable[[bytes], bytes], sentence: str) -> None:
    source = write_binary_cifar(tmp_path / "binary", SMALL_CIFAR10)
    write_python_cifar(tmp_path / "cifar10", source, SMALL_CIFAR10, 2)
    file = tmp_path / "cifar10" / "data_batch_2"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataError) as caught:
        opened(tmp_path)
    assert caught.value.sentence.startswith(sentence)
    assert caught.value.at == str(file)
