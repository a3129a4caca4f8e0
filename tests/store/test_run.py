from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

import luthier.store
from luthier.errors import StoreError
from luthier.recipe import Recipe, override
from luthier.store import Run, create_run, open_run

NOON = datetime(2026, 11, 18, 19, 4)


def test_the_name_says_when_and_what(tmp_path: Path) -> None:
    run = create_run(tmp_path / "deep" / "runs", Recipe(name="lenet5-cifar10"), now=NOON)
    assert re.fullmatch(r"2026-11-18-1904-lenet5-cifar10-[0-9a-f]{4}", run.name)
    assert sorted(path.name for path in run.path.iterdir()) == ["environment.json", "recipe.toml"]


def test_runs_of_the_same_minute_get_folders_of_their_own(tmp_path: Path) -> None:
    made = {create_run(tmp_path, Recipe(name="r"), now=NOON).path for _ in range(20)}
    assert len(made) == 20


def test_the_recipe_is_written_out_in_full_and_comes_back(tmp_path: Path) -> None:
    recipe = override(Recipe(name="mine"), ["strategy.epochs=7", "model.options.width=2"])
    run = create_run(tmp_path, recipe, now=NOON)
    assert open_run(run.path).recipe == recipe
    assert "label_smoothing = 0.0" in (run.path / "recipe.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "part"),
    [("../../etc", "etc"), ("a/b c", "a-b-c"), ("小网络", "小网络"), ("", "run"), ("..", "run"), ("x" * 300, "x" * 50)],
)
def test_a_recipe_of_any_name_stays_within_the_folder(tmp_path: Path, name: str, part: str) -> None:
    run = create_run(tmp_path, Recipe(name=name), now=NOON)
    assert run.path.parent == tmp_path
    assert run.name[:-5] == f"2026-11-18-1904-{part}"


def test_the_log_is_appended_to_with_the_time_on_each_line(run: Run) -> None:
    run.log("epoch 1")
    run.log("two\nlines")
    lines = (run.path / "log.txt").read_text("utf-8").splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["epoch 1", "two", "lines"]
    assert all(datetime.fromisoformat(line.split()[0]).tzinfo for line in lines)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="Could not write the run's folder 2026-11-18-1904-r"):
        create_run(tmp_path / "file", Recipe(name="r"), now=NOON)


def test_the_package_has_one_door() -> None:
    assert luthier.store.__all__ == sorted(luthier.store.__all__)
    assert all(hasattr(luthier.store, name) for name in luthier.store.__all__)
