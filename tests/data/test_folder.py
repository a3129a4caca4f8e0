from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from luthier.data import Files, Source, open_source
from luthier.errors import DataError


def opened(folder: Path) -> Source:
    return open_source("folder", path=str(folder))


def names(source: Source, split: str) -> list[str]:
    images = source.part(split).images
    assert isinstance(images, Files)
    return list(images.names)


def test_classes_are_the_training_folders_in_alphabetical_order(class_folders: Path) -> None:
    source = opened(class_folders)
    assert source.classes == ("cat", "dog")
    assert source.train.labels.tolist() == [0] * 6 + [1] * 6
    assert source.eval.labels.tolist() == [0] * 3 + [1] * 3
    assert names(source, "eval") == [f"{name}/{number}.png" for name in ("cat", "dog") for number in range(3)]
    assert source.name == "pets"


@pytest.mark.parametrize("name", ["val", "validation", "test"])
def test_the_evaluation_part_is_known_by_several_names(class_folders: Path, name: str) -> None:
    (class_folders / "eval").rename(class_folders / name)
    assert len(opened(class_folders).eval) == 6


def test_the_folder_may_be_named_from_the_data_root(class_folders: Path) -> None:
    assert len(open_source("folder", path="pets", root=class_folders.parent).train) == 12


def test_folders_inside_a_class_and_suffixes_in_capitals_are_read_and_what_is_hidden_or_no_image_is_not(
    class_folders: Path,
) -> None:
    deeper = class_folders / "train" / "cat" / "more"
    deeper.mkdir()
    shutil.copy(class_folders / "train" / "cat" / "0.png", deeper / "A.PNG")
    (class_folders / "train" / "cat" / "notes.txt").write_text("no image")
    (class_folders / "train" / "cat" / ".hidden.png").write_text("no image")
    (class_folders / "train" / ".cache").mkdir()
    source = opened(class_folders)
    assert source.classes == ("cat", "dog")
    assert names(source, "train")[:7] == [*(f"cat/{number}.png" for number in range(6)), "cat/more/A.PNG"]


def test_the_evaluation_part_may_lack_a_class(class_folders: Path) -> None:
    shutil.rmtree(class_folders / "eval" / "cat")
    assert opened(class_folders).eval.labels.tolist() == [1, 1, 1]


def test_a_class_of_the_evaluation_part_alone_is_refused_with_the_nearest(class_folders: Path) -> None:
    (class_folders / "eval" / "dog").rename(class_folders / "eval" / "dogs")
    with pytest.raises(DataError, match=r"Unknown class 'dogs', which the training part(.|\n)*Perhaps you meant 'dog'"):
        opened(class_folders)


def test_an_empty_class_folder_is_named(class_folders: Path) -> None:
    (class_folders / "train" / "emu").mkdir()
    with pytest.raises(DataError, match="The class folder holds no image file") as caught:
        opened(class_folders)
    assert caught.value.at == str(class_folders / "train" / "emu")


def test_a_folder_without_classes_is_named_with_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "eval").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "train" / "1.png")
    with pytest.raises(DataError, match=r"Expected a folder for each class, found 1\.png"):
        opened(tmp_path)


def test_a_missing_part_a_missing_folder_and_a_missing_path_are_refused(class_folders: Path, tmp_path: Path) -> None:
    shutil.rmtree(class_folders / "eval")
    with pytest.raises(DataError, match="Expected a folder eval or val or validation or test, found train"):
        opened(class_folders)
    with pytest.raises(DataError, match=r"nowhere does not exist - at data\.path"):
        opened(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"Set data\.path to the folder"):
        open_source("folder")
