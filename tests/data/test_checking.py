from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.data import Part, Source, arrays, open_data, open_source, pack
from luthier.errors import DataError
from luthier.recipe import Data

IMAGES = np.zeros((6, 4, 4, 3), np.uint8)
LABELS = np.array([0, 1, 2, 0, 1, 2], np.int32)


def source(**changes: Any) -> Source:
    """As a user writes one, with what is wrong in it."""
    part = Part(images=changes.pop("images", IMAGES), labels=changes.pop("labels", LABELS))
    given: dict[str, Any] = {"name": "mine", "classes": ("a", "b", "c"), "train": part, "eval": part}
    return Source(**given | changes)


def opened(given: Source) -> Source:
    """What a training makes of it, the file aside."""
    with open_data(Data(name="nothing", batch_size=2), seed=1, source=given) as data:
        assert data.classes == ("a", "b", "c")
    return given


class TestSources:
    def test_one_that_is_right_is_taken(self) -> None:
        opened(source())
        opened(source(classes=["a", "b", "c"], labels=LABELS.astype(np.int64), images=IMAGES[..., :3]))

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"classes": ("a", "b")}, "Expected labels from 0 to 1, got 2 for image 2 - at train.labels of mine"),
            ({"labels": LABELS - 1}, "Expected labels from 0 to 2, got -1 for image 0 - at train.labels of mine"),
            ({"labels": LABELS.astype(np.float64)}, "Expected one whole number an image, got float64"),
            ({"labels": LABELS[:4]}, "Expected 6 labels, one an image, got 4 - at train.labels of mine"),
            ({"images": IMAGES / 255}, "Expected images of uint8, got float64 - at train.images of mine"),
            ({"classes": ("a", "b", "a")}, "Two classes are called 'a': numbers 0 and 2 - at classes of mine"),
            (
                {"eval": Part(images=IMAGES, labels=LABELS + 1)},
                "Expected labels from 0 to 2, got 3 for image 2 - at eval.labels of mine",
            ),
            (
                {"eval": Part(images=IMAGES[..., :1], labels=LABELS)},
                "train.images of mine have 3 channels, eval.images of mine 1 - at mine",
            ),
        ],
    )
    def test_what_would_fail_in_an_epoch_is_refused_before_it(
        self, changes: dict[str, Any], sentence: str, tmp_path: Path
    ) -> None:
        given = source(**changes)
        for use in (opened, lambda given: pack(given, tmp_path / "packed")):
            with pytest.raises(DataError) as caught:
                use(given)
            assert str(caught.value).startswith(sentence)

    def test_one_of_a_users_file_is_checked_too(self, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text(
            "import numpy as np\nfrom luthier.data import Part, Source\n"
            "part = Part(images=np.zeros((2, 4, 4, 1), np.uint8), labels=np.array([0, 2]))\n"
            "def source():\n    return Source(name='x', classes=('a', 'b'), train=part, eval=part)\n"
        )
        with pytest.raises(DataError, match=r"Expected labels from 0 to 1, got 2 for image 1 - at train\.labels of x"):
            open_source(f"{tmp_path}/own.py:source")

    def test_encoded_images_are_as_many_as_their_labels(self, class_folders: Path) -> None:
        folders = open_source("folder", path=str(class_folders))
        short = replace(folders, train=replace(folders.train, labels=folders.train.labels[:-1]))
        with pytest.raises(DataError, match=r"Expected 12 labels, one an image, got 11 - at train\.labels of pets"):
            open_data(Data(name="nothing", batch_size=2), seed=1, source=short)


class TestNames:
    @pytest.mark.parametrize(
        "names",
        [
            np.array(["a", "b", "c"]),
            np.array(["a", "b", "c"], object),
            (name for name in "abc"),
            {"a": 1, "b": 2, "c": 3},
        ],
        ids=["an array", "an array of objects", "a generator", "a table"],
    )
    def test_whatever_gives_texts_in_an_order_becomes_plain_texts(self, names: Iterable[str]) -> None:
        classes = arrays(IMAGES, LABELS, IMAGES, LABELS, classes=names).classes
        assert classes == ("a", "b", "c")
        assert {type(name) for name in classes} == {str}

    @pytest.mark.parametrize(
        ("names", "told"),
        [
            (
                [10, 20, 30],
                "Expected a text as the name of class 0, got 10 - at classes\n  [str(name) for name in names]",
            ),
            (np.array([b"a", b"b", b"c"]), "Expected a text as the name of class 0, got b'a'"),
            (["a", "\udcff\udcfe", "c"], "The name of class 1 is not UTF-8: '\\udcff\\udcfe'"),
            (["a", "b", "b"], "Two classes are called 'b': numbers 1 and 2"),
            ([], "Expected the name of at least one class, got none"),
            ("abc", "Expected the classes' names as a list, got a str"),
            ({"a", "b", "c"}, "Expected the classes' names as a list, got a set"),
            (3, "Expected the classes' names as a list, got 3"),
        ],
    )
    def test_what_no_result_could_hold_or_no_person_tell_apart_is_refused(self, names: Any, told: str) -> None:
        with pytest.raises(DataError) as caught:
            arrays(IMAGES, LABELS, IMAGES, LABELS, classes=names)
        assert str(caught.value).startswith(told)

    def test_a_class_folder_whose_name_is_no_text_is_refused(self, class_folders: Path) -> None:
        (class_folders / "train" / "dog").rename(class_folders / "train" / "\udcff\udcfe")
        with pytest.raises(DataError, match="The name of class 1 is not UTF-8") as caught:
            open_source("folder", path=str(class_folders))
        assert caught.value.at == str(class_folders / "train")

    def test_a_file_whose_name_is_no_text_is_read_and_packed(self, class_folders: Path, tmp_path: Path) -> None:
        (class_folders / "train" / "dog" / "0.png").rename(class_folders / "train" / "dog" / "\udcff.png")
        pack(open_source("folder", path=str(class_folders)), tmp_path / "packed")
        assert len(open_source("mindrecord", path=str(tmp_path / "packed")).train) == 12


@pytest.mark.parametrize(
    ("images", "told"),
    [
        ([[1, 2], [3]], "Expected images of one size, NumPy makes no array of this list: "),
        (
            [[[1, 2], [3, 4]]],
            "Expected images of uint8, got int64 - at images\n  They fit: numpy.asarray(images, 'uint8').",
        ),
    ],
)
def test_lists_that_are_no_bytes_of_one_size_are_refused(images: Any, told: str) -> None:
    with pytest.raises(DataError) as caught:
        arrays(images, [0], images, [0])
    assert str(caught.value).startswith(told)
