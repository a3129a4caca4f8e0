from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from luthier.compress import open_network, run_or_recipe
from luthier.errors import DataError, RecipeError, StoreError
from luthier.recipe import Recipe, load
from luthier.store import Run
from tests.compress.making import digits, make_run


def test_a_source_is_a_run_a_recipe_or_the_name_of_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, recipe = make_run(tmp_path / "runs"), digits()
    (tmp_path / "own.toml").write_text('[model]\nname = "slim"\n')
    assert run_or_recipe(run) is run
    assert run_or_recipe(recipe) is recipe
    for named in (run.path, str(run.path), run.name):
        found = run_or_recipe(named)
        assert isinstance(found, Run)
        assert found.path.samefile(run.path)
    for name, network in (("lenet5-digits", "lenet5"), ("own.toml", "slim"), (tmp_path / "own.toml", "slim")):
        found = run_or_recipe(name)
        assert isinstance(found, Recipe)
        assert found.model.name == network


def test_what_is_neither_answers_with_what_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError, match=r"'lenet5-digit' is neither a run nor a recipe\n  .*recipe 'lenet5-digits'"):
        run_or_recipe("lenet5-digit")
    run = make_run(tmp_path / "runs")
    with pytest.raises(RecipeError, match=rf"neither a run nor a recipe\n  Perhaps you meant '.*{run.name}'"):
        run_or_recipe(run.name[:-1])
    with pytest.raises(StoreError, match=r"'runs' is no run\n  .*the latest run within it"):
        run_or_recipe("runs")
    with pytest.raises(RecipeError, match=r"No recipe file none\.toml"):
        run_or_recipe("none.toml")


def test_a_recipes_network_has_its_first_weights_and_a_runs_those_of_its_checkpoint(tmp_path: Path) -> None:
    with open_network(digits()) as network:
        assert (network.name, network.step, network.run) == ("lenet5-digits", None, None)
        assert network.shape == (32, 32, 1)
        assert not network.module.training
    run = make_run(tmp_path)
    with open_network(run, checkpoint="best") as network:
        assert (network.name, network.step) == (run.name, 80)
        assert np.all(network.session.state()["model/fc3.bias"] == 80)


def test_images_are_as_large_as_those_that_it_is_evaluated_on() -> None:
    """A network that takes any size may be trained on smaller ones, as it is on ImageNet."""
    sizes = ["data.train=[{name = 'random-crop', padding = 0, size = 24}]", "model.name=slim"]
    with open_network(digits(*sizes)) as network:
        assert network.description.shape == (24, 24, 1)
        assert network.shape == (32, 32, 1)


def test_a_set_that_is_the_same_for_everybody_need_not_be_there(tmp_path: Path) -> None:
    with open_network("lenet5-cifar10", data_root=tmp_path) as network:
        assert network.shape == (32, 32, 3)
        assert len(network.classes) == 10
        with pytest.raises(DataError, match="'cifar10' was not found"):
            network.open_data()


def test_a_missing_folder_of_classes_is_named(tmp_path: Path) -> None:
    recipe = load("resnet50-imagenet", ["data.num_classes=0"])
    with pytest.raises(DataError, match="imagenet"), open_network(recipe, data_root=tmp_path):
        pass


def test_with_its_number_of_classes_told_the_network_opens_without_it(tmp_path: Path) -> None:
    with open_network("resnet50-imagenet", data_root=tmp_path) as network:
        assert (network.shape, len(network.classes)) == ((224, 224, 3), 1000)
