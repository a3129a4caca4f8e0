from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path

import pytest

from luthier.errors import StoreError
from luthier.recipe import Recipe
from luthier.store import Run, create_run, open_run, runs


def make(parent: Path, name: str, day: int = 1) -> Run:
    return create_run(parent, Recipe(name=name), now=datetime(2026, 11, day))


class TestOpening:
    def test_by_its_folder_as_path_or_text(self, run: Run) -> None:
        assert open_run(run.path) == open_run(str(run.path)) == run

    def test_by_its_name_below_runs(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(run.path.parent.parent)
        assert open_run(run.name).path == Path("runs") / run.name

    def test_a_name_nearly_right_is_answered_with_the_right_one(self, run: Run) -> None:
        with pytest.raises(StoreError, match="is no run") as caught:
            open_run(run.path.with_name(run.name.replace("lenet5", "lent5")))
        assert caught.value.hint == f"Perhaps you meant '{run.path}'."

    def test_the_end_of_a_name_is_answered_with_the_whole(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(run.path.parent.parent)
        with pytest.raises(StoreError) as caught:
            open_run(run.name[-4:])
        assert caught.value.hint == f"Perhaps you meant 'runs/{run.name}'."

    def test_a_part_of_a_run_is_answered_with_the_run(self, run: Run) -> None:
        with pytest.raises(StoreError) as caught:
            open_run(run.path / "checkpoints")
        assert caught.value.hint == f"Perhaps you meant '{run.path}', which it is a part of."

    def test_a_folder_of_runs_is_answered_with_its_latest(self, tmp_path: Path) -> None:
        latest = [make(tmp_path, "r", day) for day in (1, 2)][-1]
        with pytest.raises(StoreError) as caught:
            open_run(tmp_path)
        assert caught.value.hint == f"Perhaps you meant '{latest.path}', the latest run within it."

    @pytest.mark.parametrize("path", ["", ".", "/", "x" * 5000, "a\0b", "no/such/folder"])
    def test_whatever_cannot_be_a_run_is_none(self, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(StoreError, match="is no run"):
            open_run(path)

    def test_a_folder_that_holds_a_recipe_alone_is_no_run(self, tmp_path: Path) -> None:
        (tmp_path / "recipe.toml").touch()
        with pytest.raises(StoreError, match="is no run") as caught:
            open_run(tmp_path)
        assert caught.value.hint == "A run is a folder that `luthier train` made, or its name below ./runs."

    def test_a_damaged_recipe_is_named(self, run: Run) -> None:
        (run.path / "recipe.toml").write_text("name = ", "utf-8")
        with pytest.raises(StoreError, match="has a damaged recipe") as caught:
            open_run(run.path)
        assert caught.value.at == str(run.path / "recipe.toml")

    @pytest.mark.parametrize("share", [0, 0.5])
    def test_a_recipe_cut_short_is_named_though_it_reads(self, run: Run, share: float) -> None:
        path = run.path / "recipe.toml"
        lines = path.read_text("utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[: int(share * len(lines))]), "utf-8")
        with pytest.raises(StoreError, match="has another recipe than it was started with") as caught:
            open_run(run.path)
        assert caught.value.at == str(path)


class TestAllBelowAFolder:
    def test_they_are_found_however_deep_and_sorted_by_name(self, tmp_path: Path) -> None:
        made = [make(tmp_path / "b" / "c", "r", 1), make(tmp_path, "r", 2), make(tmp_path / "a", "r", 3)]
        assert runs(tmp_path) == made

    def test_a_run_itself_counts_and_what_is_within_one_or_hidden_does_not(self, run: Run) -> None:
        make(run.path / "checkpoints", "inner")
        make(run.path.parent / ".trash", "hidden")
        assert runs(run.path) == runs(run.path.parent) == [run]

    def test_none_are_found_where_there_are_none(self, tmp_path: Path) -> None:
        assert runs(tmp_path) == runs(tmp_path / "nowhere") == []

    @pytest.mark.parametrize("file", ["recipe.toml", "result.json"])
    def test_damaged_ones_are_left_out_by_name(self, tmp_path: Path, file: str) -> None:
        whole, damaged = make(tmp_path, "whole"), make(tmp_path, "damaged")
        (damaged.path / file).write_text("{", "utf-8")
        faults: list[StoreError] = []
        assert runs(tmp_path, on_damaged=faults.append) == [whole]
        [fault] = faults
        assert fault.at == str(damaged.path / file)

    def test_by_default_the_log_names_them(self, run: Run, caplog: pytest.LogCaptureFixture) -> None:
        (run.path / "recipe.toml").write_text("name = ", "utf-8")
        with caplog.at_level(logging.WARNING, "luthier"):
            assert runs(run.path.parent) == []
        assert run.name in caplog.text
