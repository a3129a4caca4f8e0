"""Every command: its help, its data on standard output, its talk on standard error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image

from luthier.cli.group import COMMANDS, app
from luthier.recipe import json_schema, load, parse, shipped
from luthier.store import Run, open_run, writing
from tests.cli.calling import SCRIPT, luthier

SHORT = ("--no-measure", "--set", "strategy.steps=3")


def every_command(command: Any, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from every_command(inner, *path, name)


ALL = list(every_command(typer.main.get_command(app)))


class TestHelp:
    @pytest.mark.parametrize("path", ALL, ids=" ".join)
    def test_every_command_explains_itself(self, path: tuple[str, ...]) -> None:
        for flag in ("--help", "-h"):
            said = luthier(*path, flag)
            assert (said.code, said.err) == (0, "")
            assert "Usage: luthier" in said.out
            assert all(name in said.out for name in path)

    def test_there_are_the_commands_that_were_promised(self) -> None:
        assert {path[0] for path in ALL if path} == set(COMMANDS)
        assert {" ".join(path) for path in ALL if path and path[0] in ("recipe", "runs", "data") and path[1:]} == {
            *("recipe list", "recipe show", "recipe schema", "runs list", "runs compare"),
            *("data list", "data get", "data show", "data pack"),
        }

    def test_the_version(self) -> None:
        said = luthier("--version")
        assert (said.code, said.out) == (0, f"luthier {version('luthier')}\n")

    def test_an_unknown_command_or_option_is_refused(self) -> None:
        assert luthier("trian").code == 2
        assert luthier("train", "--ste", "x").code == 2


class TestRecipe:
    def test_list_has_every_recipe_with_what_it_says_of_itself(self) -> None:
        said = luthier("recipe", "list")
        assert [line.split()[0] for line in said.out.splitlines()] == shipped()
        assert list(json.loads(luthier("recipe", "list", "--json").out)) == shipped()

    @pytest.mark.parametrize("name", shipped())
    def test_show_gives_a_recipe_that_can_be_read_back(self, name: str) -> None:
        said = luthier("recipe", "show", name, "--set", "strategy.epochs=7")
        assert parse(said.out, place="shown") == load(name, ["strategy.epochs=7"])
        assert json.loads(luthier("recipe", "show", name, "--json").out)["name"] == name

    def test_show_takes_a_run_and_the_source_with_its_comments(self, trained: Run) -> None:
        assert parse(luthier("recipe", "show", trained.path).out, place="shown") == trained.recipe
        assert luthier("recipe", "show", "lenet5-digits", "--source").out.startswith("# LeNet-5 on handwritten digits")

    def test_the_schema_is_json(self) -> None:
        assert json.loads(luthier("recipe", "schema").out) == json.loads(json.dumps(json_schema()))


class TestTrain:
    def test_the_row_is_data_and_the_progress_is_talk(self, tmp_path: Path) -> None:
        said = luthier("train", "lenet5-digits", "--set", "strategy.steps=50", "--set", "score.runs=2")
        assert said.code == 0
        [folder] = (tmp_path / "runs").iterdir()
        [row] = [line for line in said.out.splitlines() if line.startswith(folder.name)]
        assert {"cosine", "momentum", "0.062"} < set(row.split())
        assert said.err.splitlines()[0] == "lenet5-digits on torch (cpu), 50 steps"
        assert re.match(r"epoch 1/2  loss 2\.\d{4}  eval accuracy +\d+\.\d\d %", said.err.splitlines()[1])
        assert said.err.splitlines()[-1] == str(folder.relative_to(tmp_path))
        assert "epoch 1/2" not in said.out

    def test_json_alone_stands_on_standard_output(self, tmp_path: Path) -> None:
        said = luthier("train", "lenet5-digits", *SHORT, "--json", "--out", "elsewhere")
        [folder] = (tmp_path / "elsewhere").iterdir()
        assert json.loads(said.out) == json.loads((folder / "result.json").read_text())
        assert json.loads(said.out)["steps"] == 3
        again = luthier("train", "--resume", folder, "--json")
        assert json.loads(again.out) == json.loads(said.out)
        assert "nothing is left to do" in again.err

    def test_one_that_has_ended_is_not_written_to(self, trained: Run) -> None:
        with writing(trained.path):  # as a folder that cannot be written, it can have no second writer
            said = luthier("train", "--resume", trained.path)
        assert said.code == 0
        assert "nothing is left to do" in said.err

    def test_a_run_is_found_by_its_name_below_runs(self, tmp_path: Path) -> None:
        assert luthier("train", "lenet5-digits", *SHORT).code == 0
        [folder] = (tmp_path / "runs").iterdir()
        assert "nothing is left to do" in luthier("train", "--resume", folder.name).err


class TestRuns:
    def test_list_shows_every_run_with_its_outcome(self, trained: Run) -> None:
        said = luthier("runs", "list", trained.path.parent)
        [line] = said.out.splitlines()
        assert line.startswith("finished")
        assert line.endswith(str(trained.path))
        [row] = json.loads(luthier("runs", "list", trained.path.parent, "--json").out)
        assert (row["path"], row["result"]["status"]) == (str(trained.path), "finished")

    def test_a_damaged_run_is_left_out_and_named(self, trained: Run, tmp_path: Path) -> None:
        luthier("train", "lenet5-digits", *SHORT)
        [folder] = (tmp_path / "runs").iterdir()
        (folder / "recipe.toml").write_text("?")
        said = luthier("runs", "list")
        assert (said.code, said.out) == (0, "")
        assert said.err.startswith("left out: ")
        assert folder.name in said.err

    def test_one_run_alone_cannot_be_compared(self, trained: Run) -> None:
        said = luthier("runs", "compare", trained.path)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(f"error: Expected two runs or more, got '{trained.path}' alone")

    def test_compare_shows_the_fields_that_differ_and_no_others(self, trained: Run, tmp_path: Path) -> None:
        luthier("train", "lenet5-digits", *SHORT, "--set", "strategy.optimizer=adam")
        [folder] = (tmp_path / "runs").iterdir()
        other = open_run(folder)
        said = luthier("runs", "compare", trained.path, other.path)
        head, *rows = said.out.splitlines()
        assert head.split() == [trained.name, other.name]
        fields = [row.split()[0] for row in rows]
        assert {"strategy.steps", "strategy.optimizer.name", "strategy.learning_rate", "accuracy"} <= set(fields)
        assert not {"data.batch_size", "strategy.epochs", "model.name"} & set(fields)
        told = json.loads(luthier("runs", "compare", trained.path, other.path, "--json").out)
        assert told["recipe"]["strategy.steps"] == [60, 3]
        assert [field for field in fields if field in told["recipe"]] == list(told["recipe"])


class TestOfARun:
    def test_evaluate(self, trained: Run) -> None:
        said = luthier("evaluate", trained.path, "--confusion")
        result = trained.result()
        assert result is not None
        assert result.accuracy is not None
        assert said.out.startswith(f"accuracy {result.accuracy:.2f} %, top-5 ")
        assert "true \\ predicted" in said.out
        told = json.loads(luthier("evaluate", trained.path, "--json", "--split", "train").out)
        assert (told["split"], told["samples"], told["step"]) == ("train", 1437, 60)

    def test_measure(self, trained: Run) -> None:
        row = json.loads(luthier("measure", trained.path, "--json", "--set", "score.runs=2").out)[0]
        assert (row["parameters"], row["latency"]["runs"]) == (61_684, 2)
        table = luthier(
            "measure", trained.path, "--format", "markdown", "--language", "zh", "--set", "score.runs=2"
        ).out
        assert table.startswith("| ")

    def test_compress(self, trained: Run) -> None:
        quick = [*("--set", "compress.tune_epochs=1"), *("--set", "score.runs=2"), *("--set", "score.latency=0")]
        steps = ["--set", 'compress.steps=["prune"]']
        said = luthier("compress", trained.path, "-o", "small", *quick, *steps, "--json")
        assert said.code == 0
        (step,) = json.loads(said.out)["steps"]
        assert step["step"] == "prune"
        assert open_run(step["run"]).recipe.model.options == {"width": [4, 12], "dense": [90, 63]}
        assert "epoch 1/1" in said.err
        again = luthier("compress", trained.path, "-o", "small", *quick, *steps)
        assert "epoch 1/1" not in again.err
        assert f"prune: {step['reason']}" in again.out
        none = luthier("compress", trained.path, "-o", "other")
        assert (none.code, none.out) == (2, "")
        assert "names no steps to compress by" in none.err

    def test_predict_and_export(self, trained: Run, tmp_path: Path) -> None:
        Image.fromarray(np.zeros((32, 32), np.uint8)).save(tmp_path / "black.png")
        said = luthier("predict", trained.path, "black.png", "--top", "2")
        assert said.out.startswith("black.png: ")
        assert len(json.loads(luthier("predict", trained.path, "black.png", "--json").out)[0]["labels"]) == 3
        assert json.loads(luthier("export", trained.path, "-o", "m.onnx", "--json").out)["path"] == "m.onnx"
        assert (tmp_path / "m.onnx").stat().st_size > 240_000

    def test_predict_names_the_file_that_is_no_image(self, trained: Run, tmp_path: Path) -> None:
        (tmp_path / "text.png").write_text("no image")
        for name in ("text.png", "nowhere.png"):
            said = luthier("predict", trained.path, name)
            assert (said.code, said.out) == (2, "")
            assert f"at {name}" in said.err
            assert "Traceback" not in said.err


class TestPictures:
    def test_schedule_draws_recipes_over_each_other(self, tmp_path: Path) -> None:
        said = luthier("schedule", "lenet5-cifar10", "resnet50-cifar10", "-o", "curves.png")
        assert (said.code, said.out) == (0, "curves.png\n")
        with Image.open(tmp_path / "curves.png") as picture:
            assert picture.width > 300

    def test_data_is_listed_and_shown(self, tmp_path: Path) -> None:
        assert "digits" in luthier("data", "list").out.split()
        assert json.loads(luthier("data", "list", "--json").out)["cifar10"] == {"downloadable": True}
        said = luthier("data", "show", "digits", "-o", "grid.png", "-n", "12")
        assert (said.code, said.out) == (0, "grid.png\n")
        assert (tmp_path / "grid.png").is_file()

    def test_what_has_nothing_to_fetch_says_so(self) -> None:
        said = luthier("data", "get", "digits")
        assert said.code == 2
        assert "Nothing to fetch for 'digits'\n  It is part of Luthier." in said.err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no head")
@pytest.mark.parametrize("command", ["recipe schema", "recipe list", "runs compare {run} {run}", "--help"])
def test_a_pipe_that_is_closed_early_ends_it_quietly(command: str, trained: Run) -> None:
    """Whoever reads has seen enough; nothing is said of it."""
    line = f"{SCRIPT} {command.format(run=trained.path)} | head -n 1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_pipe_that_is_closed_before_the_first_word_ends_it_quietly() -> None:
    child = subprocess.Popen([SCRIPT, "recipe", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait() in (0, 1)
