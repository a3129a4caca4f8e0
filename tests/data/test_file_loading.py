from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import Batch, DataSet, open_data
from luthier.errors import DataError
from luthier.recipe import CenterCrop, ColorJitter, Data, RandomCrop, RandomFlip, RandomResizedCrop, Resize, Transform

TRAIN: tuple[Transform, ...] = (RandomResizedCrop(size=12), RandomFlip(), ColorJitter(brightness=0.5))
EVAL: tuple[Transform, ...] = (Resize(size=14), CenterCrop(size=12))


def opened(
    folder: Path,
    *,
    train: tuple[Transform, ...] = TRAIN,
    evaluation: tuple[Transform, ...] = EVAL,
    batch: int = 4,
    workers: int = 2,
    skip: bool = False,
    rank: int = 0,
    ranks: int = 1,
    validation: float = 0.0,
) -> DataSet:
    config = Data(
        name="folder",
        path=str(folder),
        batch_size=batch,
        train=train,
        eval=evaluation,
        workers=workers,
        on_error="skip" if skip else "stop",
        validation=validation,
    )
    return open_data(config, seed=1, rank=rank, ranks=ranks)


def epoch(data: DataSet, split: str = "train", number: int = 0, start: int = 0) -> list[Batch]:
    with data:
        return list(data.split(split).epoch(number, start))


def assert_same(batches: list[Batch], others: list[Batch]) -> None:
    for batch, other in zip(batches, others, strict=True):
        np.testing.assert_array_equal(batch.images, other.images)
        np.testing.assert_array_equal(batch.labels, other.labels)


def damage(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("no image")


def is_red(batch: Batch) -> list[bool]:
    """Cats are red, dogs are blue, whatever was cut out and however bright."""
    red, _, blue = batch.images.astype(int).sum(axis=(1, 2)).T
    return [bool(value) for value in red > blue]


def test_files_of_any_size_come_out_in_one_with_their_labels(class_folders: Path) -> None:
    for split, count in (("train", 12), ("eval", 6)):
        batches = epoch(opened(class_folders), split)
        assert sum(map(len, batches)) == count
        for batch in batches:
            assert batch.images.shape == (len(batch), 12, 12, 3)
            assert batch.images.flags.writeable
            assert batch.images.flags.c_contiguous
            assert is_red(batch) == (batch.labels == 0).tolist()


@pytest.mark.parametrize("workers", [1, 3, 8])
@pytest.mark.parametrize("batch", [1, 5, 12])
def test_any_number_of_workers_gives_the_same_batches(class_folders: Path, workers: int, batch: int) -> None:
    for split in ("train", "eval"):
        one = epoch(opened(class_folders, batch=batch), split, 3)
        assert_same(epoch(opened(class_folders, batch=batch, workers=workers), split, 3), one)


def test_an_epoch_is_taken_up_at_a_step_with_the_same_bytes(class_folders: Path) -> None:
    assert_same(epoch(opened(class_folders), start=1), epoch(opened(class_folders))[1:])


def test_ranks_together_see_what_one_rank_sees(class_folders: Path) -> None:
    whole = epoch(opened(class_folders, batch=6))
    for rank in range(3):
        for share, batch in zip(epoch(opened(class_folders, batch=2, rank=rank, ranks=3)), whole, strict=True):
            np.testing.assert_array_equal(share.images, batch.images[rank::3])


def test_files_of_one_size_need_no_resize(tmp_path: Path) -> None:
    for split in ("train", "eval"):
        for number, name in enumerate(("a", "b")):
            (tmp_path / split / name).mkdir(parents=True)
            Image.new("RGB", (10, 8), (number, 0, 0)).save(tmp_path / split / name / "1.png")
    data = opened(tmp_path, train=(RandomCrop(padding=1), RandomFlip()), evaluation=(), batch=2)
    assert data.shape == (8, 10, 3)
    assert [batch.images.shape for batch in epoch(data)] == [(2, 8, 10, 3)]


def test_a_file_of_another_size_is_named_where_no_transform_gives_one(class_folders: Path) -> None:
    with pytest.raises(DataError, match="Expected an image of 30×20 as the first is, got") as caught:
        epoch(opened(class_folders, evaluation=()), "eval")
    assert caught.value.at == str(class_folders / "eval" / "cat" / "1.png")


def test_a_file_too_small_for_a_crop_is_named(class_folders: Path) -> None:
    with pytest.raises(DataError, match="random-crop takes 25×25 out of images of") as caught:
        epoch(opened(class_folders, train=(RandomCrop(padding=0, size=25),), batch=12))
    assert str(class_folders / "train") in (caught.value.at or "")


def test_a_transform_before_the_one_that_gives_a_size_sees_each_image_alone(class_folders: Path) -> None:
    flips: tuple[Transform, ...] = (RandomFlip(probability=1.0), Resize(size=9), RandomCrop(padding=0, size=7))
    assert {batch.images.shape for batch in epoch(opened(class_folders, train=flips))} == {(4, 7, 7, 3)}


def test_a_file_that_is_no_image_stops_the_epoch_by_its_name(class_folders: Path) -> None:
    damage(class_folders, "eval/dog/1.png")
    data = opened(class_folders, batch=2)
    batches = data.eval.epoch(0)
    assert len(next(batches)) == 2
    assert len(next(batches)) == 2
    with pytest.raises(DataError, match="Not an image that can be read") as caught:
        next(batches)
    assert caught.value.at == str(class_folders / "eval" / "dog" / "1.png")
    data.close()


def test_where_errors_are_skipped_the_next_image_stands_in_for_training(class_folders: Path) -> None:
    damage(class_folders, "train/cat/2.png", "train/cat/3.png", "train/dog/5.png")
    data = opened(class_folders, skip=True)
    batches = epoch(data)
    assert data.skipped == 3
    assert [len(batch) for batch in batches] == [4, 4, 4]
    for batch in batches:
        assert is_red(batch) == (batch.labels == 0).tolist()
    labels = sorted(label for batch in batches for label in batch.labels.tolist())
    assert labels == [0] * 7 + [1] * 5  # after the last dog comes the first cat


def test_stand_ins_are_the_same_for_any_number_of_workers_and_ranks(class_folders: Path) -> None:
    damage(class_folders, "train/cat/2.png", "train/cat/3.png")
    whole = epoch(opened(class_folders, skip=True, batch=6, workers=1))
    assert_same(epoch(opened(class_folders, skip=True, batch=6, workers=5)), whole)
    share = epoch(opened(class_folders, skip=True, batch=3, rank=1, ranks=2))
    for part, batch in zip(share, whole, strict=True):
        np.testing.assert_array_equal(part.images, batch.images[1::2])


def test_a_stand_in_never_comes_from_the_validation_part(class_folders: Path) -> None:
    clean = opened(class_folders, skip=True, validation=0.5, batch=3)
    assert clean.validation is not None
    trained = {batch.images.tobytes() for batch in epoch(clean)}
    data = opened(class_folders, skip=True, validation=0.5, batch=3)
    assert {batch.images.tobytes() for batch in epoch(data)} == trained
    assert data.train.samples == 6


def test_where_errors_are_skipped_evaluation_leaves_the_file_out(class_folders: Path) -> None:
    damage(class_folders, "eval/cat/0.png", "eval/cat/1.png", "eval/dog/2.png")
    data = opened(class_folders, skip=True, batch=2)
    assert [batch.labels.tolist() for batch in epoch(data, "eval")] == [[0, 1], [1]]
    assert data.skipped == 3


def test_a_file_is_counted_once_however_often_it_is_met(class_folders: Path) -> None:
    damage(class_folders, "train/cat/2.png")
    data = opened(class_folders, skip=True)
    for number in range(3):
        list(data.train.epoch(number))
    assert data.skipped == 1
    data.close()


def test_a_part_without_any_image_that_can_be_read_is_refused(class_folders: Path) -> None:
    damage(class_folders, *(f"train/{name}/{number}.png" for name in ("cat", "dog") for number in range(6)))
    with pytest.raises(DataError, match="None of 12 files is an image that can be read"):
        epoch(opened(class_folders, skip=True))


def test_an_epoch_that_is_left_early_leaves_no_thread_behind(class_folders: Path) -> None:
    with opened(class_folders, batch=1) as data:
        batches = data.train.epoch(0)
        next(batches)
        assert any(thread.name.startswith("luthier-data") for thread in threading.enumerate())
    assert not any(thread.name.startswith("luthier-data") for thread in threading.enumerate())


def test_few_images_are_read_ahead(class_folders: Path) -> None:
    with opened(class_folders, batch=1, workers=1) as data:
        batches = data.train.epoch(0)
        next(batches)
        time.sleep(0.3)
        shutil.rmtree(class_folders / "train")
        ahead: list[Batch] = []
        with pytest.raises(DataError, match="An image file is missing"):
            ahead.extend(batches)
        assert 1 <= len(ahead) <= 3
