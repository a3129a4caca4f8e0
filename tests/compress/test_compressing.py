"""A run made smaller step by step: what is kept, what is refused, and what is left on disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from luthier.compress import Compression, compress, compression_text, export, open_file
from luthier.errors import ExportError, RecipeError, TrainingError
from luthier.measure import measure
from luthier.recipe import Model, load
from luthier.store import Run, open_run, runs
from luthier.training import StepEnded, resume, train
from tests.compress.making import digits
from tests.compress.test_onnx import own

SLIM = ("model.name=slim", "model.options.width=0.5", "record.histograms=false", "record.images=0")
BY_SIZE = ("score.latency=0", "score.size=1000")  # no clock decides, and a percent is worth 500 bytes
BY_ACCURACY = ("score.latency=0", "score.size=0.0001")
QUICK = ("compress.tune_epochs=1", "compress.tune_rate=0.5", "score.runs=5")


def settings(*steps: str) -> list[str]:
    return [f"compress.steps={json.dumps(steps)}", *QUICK]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A `slim` that knows its digits, with a validation part."""
    recipe = digits(*SLIM, "strategy.epochs=2", "strategy.learning_rate=0.05", "data.validation=0.2")
    return train(recipe, out=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def done(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Compression:
    """Pruned, then stored as int8, where size counts."""
    return compress(run, output=tmp_path_factory.mktemp("small"), overrides=[*settings("prune", "int8"), *BY_SIZE])


class TestKept:
    def test_what_gives_more_than_it_costs_is_kept_and_built_upon(self, run: Run, done: Compression) -> None:
        first, second = done.steps
        assert (first.step, first.kept, second.step, second.kept) == ("prune", True, "int8", True)
        assert first.before.size_mb == pytest.approx(done.before.size_mb)
        assert first.after.size_mb < 0.65 * first.before.size_mb
        assert second.before.size_mb == first.after.size_mb
        assert second.after.size_mb < 0.4 * second.before.size_mb
        assert (done.judged.split, done.judged.samples, done.storage) == ("validation", 287, "int8")
        assert first.reason.startswith("gains ")
        assert first.after.accuracy is not None
        assert first.after.accuracy > 80
        assert run.recipe.compress.steps == ()

    def test_the_pruned_run_is_a_run_as_any_other(self, done: Compression, tmp_path: Path) -> None:
        pruned = open_run(done.run)
        assert pruned.recipe.model == Model(name="slim", options={"width": [12, 30, 54]})
        assert pruned.recipe.strategy.learning_rate == 0.025
        result = pruned.result()
        assert result is not None
        assert (result.status, result.accuracy) == ("finished", None)  # the evaluation set is for the end
        row = measure(pruned, latency=False)
        assert row.size_mb == pytest.approx(done.steps[0].after.size_mb)
        assert row.accuracy is not None
        assert row.accuracy > 80
        assert Path(export(pruned, output=tmp_path / "m.onnx").path).is_file()
        further = train(pruned.recipe, overrides=["strategy.steps=2"], start=pruned, out=tmp_path / "further")
        assert further.recipe.model == pruned.recipe.model
        cut_short = shutil.copytree(pruned.path, tmp_path / pruned.name)
        (cut_short / "result.json").unlink()
        shutil.rmtree(cut_short / "checkpoints")
        assert resume(cut_short, final_evaluation=False).checkpoints()

    def test_the_file_and_the_record_say_the_same(self, done: Compression) -> None:
        path = Path(done.path)
        row = measure(path, overrides=["score.runs=5"])
        assert row.size_mb == done.after.size_mb
        assert open_file(path).recipe.model.options == {"width": [12, 30, 54]}
        assert open_file(path).storage == "int8"
        record = json.loads((path.parent / "compression.json").read_text("utf-8"))
        assert [step["kept"] for step in record["steps"]] == [True, True]
        assert record["after"]["size_mb"] == done.after.size_mb

    def test_people_read_a_table(self, done: Compression) -> None:
        told = compression_text(done).splitlines()
        assert told[0].split() == ["accuracy", "(%)", "size", "(MB)", "file", "(MB)", "latency", "(ms)", "score"]
        rows = [line for line in told if line.startswith(("as it was", "prune ", "int8 "))]
        assert [row.split()[-1] for row in rows[1:]] == ["kept", "kept"]
        assert "accuracy on 287 images of the validation part; latency: onnxruntime on cpu" in told[-2]
        assert told[-1].startswith(f"{done.path}: int8, ")

    def test_asked_again_it_trains_nothing_twice(self, run: Run, done: Compression, tmp_path: Path) -> None:
        folder = shutil.copytree(Path(done.path).parent, tmp_path / "small")
        there = [item.path for item in runs(folder)]
        again = compress(run, output=folder, overrides=[*settings("prune"), *BY_SIZE])
        assert [item.path for item in runs(folder)] == there
        assert Path(again.run).name == Path(done.run).name
        assert again.steps[0].after.accuracy == done.steps[0].after.accuracy


class TestRefused:
    def test_what_costs_more_than_it_gives_is_refused_with_its_parts(self, run: Run, tmp_path: Path) -> None:
        overrides = [*settings("prune", "float16"), *BY_ACCURACY, "compress.prune=0.9", "compress.tune_rate=1e-6"]
        done = compress(run, output=tmp_path / "small", overrides=overrides)
        first, second = done.steps
        assert not first.kept
        assert first.reason.startswith("costs ")
        assert "of score: accuracy -" in first.reason
        assert first.run is not None
        assert open_run(first.run).recipe.model.options == {"width": [2, 4, 7]}
        assert second.before.size_mb == pytest.approx(first.before.size_mb)  # of the network as it was
        assert done.run == str(run.path)
        assert "refused" in compression_text(done)

    def test_where_all_is_refused_the_file_is_the_network_as_it_was(self, run: Run, tmp_path: Path) -> None:
        done = compress(run, output=tmp_path, overrides=[*settings("int8"), "score.latency=0", "score.size=-1"])
        assert [step.kept for step in done.steps] == [False]
        assert (done.storage, open_file(done.path).storage) == ("float32", "float32")
        assert done.after.accuracy == done.before.accuracy


class TestGoingOn:
    def test_an_interrupted_training_goes_on_where_it_was(self, run: Run, tmp_path: Path) -> None:
        def interrupt(event: Any) -> None:
            if isinstance(event, StepEnded) and event.step == 5:
                os.kill(os.getpid(), signal.SIGINT)

        overrides = [*settings("prune"), *BY_SIZE, "compress.tune_taught=true"]
        with pytest.raises(TrainingError, match=r"was interrupted.*\n  The same command goes on with it"):
            compress(run, output=tmp_path, overrides=overrides, listeners=lambda: [interrupt])
        (begun,) = runs(tmp_path)
        assert begun.recipe.strategy.teacher == str(run.path.resolve())
        done = compress(run, output=tmp_path, overrides=overrides)
        assert [item.path for item in runs(tmp_path)] == [begun.path]
        assert done.steps[0].run == str(begun.path)
        with pytest.raises(RecipeError, match="was pruned or trained otherwise than is asked now"):
            compress(run, output=tmp_path, overrides=[*overrides, "compress.prune=0.5"])


class TestMistakes:
    def test_no_steps_and_no_run(self, run: Run, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"names no steps to compress by - at compress\.steps\n  Try: --set"):
            compress(run, output=tmp_path)
        with pytest.raises(RecipeError, match=r"lenet5-digits is a recipe\n  First: luthier train lenet5-digits"):
            compress("lenet5-digits", output=tmp_path)
        with pytest.raises(RecipeError, match=r"Only the fields of \[compress\] and \[score\]"):
            compress(run, output=tmp_path, overrides=["strategy.epochs=3"])

    def test_a_users_own_network_is_not_pruned(self, tmp_path: Path) -> None:
        recipe = own("Dilated")
        theirs = train(recipe, overrides=["strategy.steps=2"], out=tmp_path / "runs")
        with pytest.raises(ExportError, match="cannot be followed, so none of them can be pruned"):
            compress(theirs, output=tmp_path / "small", overrides=settings("prune"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_a_run_of_mindspore_is_pruned_and_trained_on_there(tmp_path: Path) -> None:
    engine = ("engine=mindspore", "mode=graph", "device=cpu", "model.name=resnet18", "strategy.steps=30")
    resnet = ("model.options={width = 0.0625, stem = 'cifar'}", "strategy.learning_rate=0.02", "data.validation=0.2")
    run = train(digits(*engine, *resnet), out=tmp_path / "runs")
    done = compress(run, output=tmp_path / "small", overrides=[*settings("prune", "int8"), *BY_SIZE])
    pruned = open_run(str(done.steps[0].run))
    assert (pruned.recipe.engine, pruned.recipe.model.name) == ("mindspore", "resnet")
    assert pruned.recipe.model.options["out_channels"] == [3, 6, 12, 24]
    assert done.steps[0].after.size_mb < 0.65 * done.steps[0].before.size_mb


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif("LUTHIER_DATA" not in os.environ, reason="needs CIFAR-10 below LUTHIER_DATA")
def test_on_cifar10_only_what_gains_score_is_kept(tmp_path: Path) -> None:
    recipe = load(
        "lenet5-cifar10",
        [
            *("model.name=slim", "model.options={width = 0.25}", "strategy.epochs=2", "strategy.learning_rate=0.05"),
            *(
                "data.validation=0.1",
                "record.histograms=false",
                "data.batch_size=128",
                'compress.steps=["prune", "int8"]',
            ),
            *("compress.tune_epochs=1", "compress.tune_taught=true"),
        ],
    )
    run = train(recipe, out=tmp_path / "runs")
    done = compress(run, output=tmp_path / "small")
    print(compression_text(done))
    first, second = done.steps
    assert first.after.size_mb < 0.62 * first.before.size_mb
    assert first.before.accuracy is not None
    assert first.after.accuracy is not None
    assert first.after.accuracy > first.before.accuracy - 6
    for step in done.steps:
        assert step.kept == (step.after.score > step.before.score)  # type: ignore[operator]
    assert done.judged.samples == 5000
    assert second.after.accuracy == pytest.approx(second.before.accuracy, abs=1.5)
