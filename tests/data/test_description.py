from pathlib import Path

import pytest

from luthier.data import describe, open_data
from luthier.recipe import load


@pytest.mark.parametrize("drop", ["true", "false"])
@pytest.mark.parametrize("validation", [0.0, 0.1, 0.5])
def test_an_outline_tells_what_the_files_tell(validation: float, drop: str) -> None:
    recipe = load(
        "lenet5-digits", [f"data.validation={validation}", f"data.drop_remainder={drop}", "data.batch_size=1"]
    )
    with open_data(recipe.data, seed=1) as data:
        told = describe(recipe.data)
        assert told == data.description


def test_a_training_crop_changes_the_shape_of_training_alone() -> None:
    recipe = load("lenet5-digits", ["data.train=[{name = 'random-crop', padding = 0, size = 24}]"])
    with open_data(recipe.data, seed=1) as data:
        assert data.description.shape == (24, 24, 1)
        assert describe(recipe.data) == data.description


@pytest.mark.parametrize("name", ["cifar10", "mnist"])
def test_an_outline_tells_what_the_real_files_tell(name: str, real_data: Path) -> None:
    config = load(f"lenet5-{name}").data
    with open_data(config, seed=1, root=real_data) as data:
        assert describe(config) == data.description


def test_class_folders_can_be_told_by_their_files_alone() -> None:
    assert describe(load("resnet50-imagenet").data) is None
