"""Schedules over each other: each its own curve, as long as its own data make it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from luthier.errors import DataError
from luthier.store import Run
from luthier.training import schedule
from luthier.training.planning import plans
from tests.training.making import digits


def test_an_epoch_is_as_long_as_the_recipe_s_own_data_make_it() -> None:
    [small, large] = plans(["lenet5-digits", "lenet5-cifar10"], steps_per_epoch=7)
    assert (small.steps_per_epoch, large.steps_per_epoch) == (44, 1562)


def test_a_larger_batch_makes_it_shorter() -> None:
    [plan] = plans(["lenet5-cifar10"], overrides=["data.batch_size=100"])
    assert plan.steps_per_epoch == 500


def test_two_runs_of_one_recipe_are_two_curves(trained_once: Run, unfinished: Run) -> None:
    copy = unfinished.path.rename(unfinished.path.with_name("other"))
    labels = [plan.label for plan in plans([trained_once.path, copy, "lenet5-cifar10"])]
    assert labels == [trained_once.name, "other", "lenet5-cifar10"]


def test_recipes_in_code_keep_their_names() -> None:
    assert [plan.label for plan in plans([digits("name=a"), digits("name=b")])] == ["a", "b"]


class TestFilesThatAreNotHere:
    IMAGENET = ("resnet50-imagenet",)

    def test_their_length_is_given(self) -> None:
        [plan] = plans(self.IMAGENET, steps_per_epoch=5004)
        assert plan.steps_per_epoch == 5004

    def test_or_asked_for(self) -> None:
        with pytest.raises(DataError, match=r"does not exist(?s:.*)Or say how long an epoch is: --steps-per-epoch"):
            plans(self.IMAGENET)


def test_the_picture_is_written(tmp_path: Path) -> None:
    written = schedule(["lenet5-digits", "lenet5-cifar10"], output=tmp_path / "curves.png")
    with Image.open(written) as picture:
        assert picture.width > 300
