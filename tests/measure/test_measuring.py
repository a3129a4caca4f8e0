from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import luthier
from luthier.errors import DataError, ExportError, RecipeError
from luthier.measure import Measurement, measure, score
from luthier.recipe import load
from luthier.store import Run
from tests.compress.making import digits, make_run
from tests.compress.test_onnx import own


def test_a_recipe_that_was_not_trained_has_costs_but_neither_accuracy_nor_score() -> None:
    row = measure("lenet5-digits")
    assert (row.name, row.run, row.step, row.network) == ("lenet5-digits", None, None, "lenet5")
    assert (row.batch_size, row.epochs, row.learning_rate, row.schedule, row.optimizer) == (
        *(32, 10, 0.01, "cosine", "momentum"),
    )
    assert (row.parameters, row.size_mb) == (61_684, 0.246736)
    assert row.file_mb == pytest.approx(0.2505, abs=1e-3)
    assert row.latency_ms is not None
    assert row.latency_ms > 0
    assert (row.accuracy, row.loss, row.score) == (None, None, None)


def test_a_runs_row_repeats_its_result_and_completes_it(trained: Run) -> None:
    before = trained.result()
    assert before is not None
    row = measure(trained)
    assert (row.accuracy, row.top5, row.loss, row.samples) == (before.accuracy, before.top5, before.loss, 360)
    assert (row.epochs, row.step, row.notes) == (2, before.steps, ())
    assert row.accuracy is not None
    assert row.latency_ms is not None
    assert row.score == score(row.accuracy, row.size_mb, row.latency_ms)
    after = trained.result()
    assert after == replace(
        before,
        **{name: getattr(row, name) for name in ("file_mb", "latency_ms", "latency", "score", "size_mb")},
    )


def test_the_statistic_is_the_recipes() -> None:
    for statistic in ("median", "mean"):
        row = measure(digits(f"score.statistic={statistic}"))
        assert row.timings is not None
        assert row.latency_ms == getattr(row.timings, f"{statistic}_ms")


def test_another_checkpoint_is_evaluated_and_leaves_the_result_as_it_is(trained: Run) -> None:
    before = trained.result()
    first = int(trained.checkpoints()[0].name[5:])
    row = measure(trained, checkpoint=first)
    assert (row.step, row.samples, row.epochs) == (first, 360, 1)
    assert before is not None
    assert row.accuracy != before.accuracy
    assert row.notes == (f"Not written to result.json, which does not speak of step {first}",)
    assert trained.result() == before


def test_an_interrupted_run_is_evaluated_and_its_result_gains_what_was_measured(trained: Run) -> None:
    whole = trained.result()
    assert whole is not None
    trained.write_result(replace(whole, status="interrupted", accuracy=None, top5=None, loss=None, samples=None))
    row = measure(trained, latency=False)
    after = trained.result()
    assert after is not None
    assert (row.accuracy, after.accuracy, after.samples) == (whole.accuracy, whole.accuracy, 360)
    assert row.loss == pytest.approx(whole.loss)
    assert (after.status, after.latency_ms, after.score) == ("interrupted", None, None)


def test_a_run_without_a_result_is_measured_and_gets_none(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    row = measure(run, latency=False)
    assert row.accuracy is not None
    assert row.notes == ("Not written to result.json, which does not speak of step 120",)
    assert run.result() is None


def test_without_latency_the_one_that_was_measured_before_stays(trained: Run) -> None:
    assert measure(trained, latency=False).score is None
    first = measure(trained)
    again = measure(trained, latency=False)
    assert (again.latency_ms, again.latency, again.score) == (first.latency_ms, first.latency, first.score)
    assert again.timings is None


def test_overrides_change_how_a_run_is_measured_and_not_what_is_written_down(trained: Run) -> None:
    before = trained.result()
    row = measure(trained, overrides=["score.runtime=torch-eager", "score.accuracy=1"])
    assert row.latency is not None
    assert row.latency.runtime == "torch-eager"
    assert row.accuracy is not None
    assert row.score is not None
    assert row.score > 0.9 * row.accuracy
    assert trained.result() == before
    with pytest.raises(RecipeError, match=r"Only the fields of \[score\] can be set for a run, got model\.name=slim"):
        measure(trained, overrides=["model.name=slim"])
    assert measure(digits(), overrides=["model.name=slim"], latency=False).network == "slim"


def test_a_network_that_cannot_be_exported_is_timed_in_pytorch_and_has_no_file(tmp_path: Path) -> None:
    recipe = own("Spectral", "score.runtime=torch-eager")
    row = measure(recipe)
    assert row.latency_ms is not None
    assert row.file_mb is None
    assert row.notes == (
        "No file size: The operator aten::fft_fft2 cannot be written as ONNX - at nets.py:11, in mix.1 (Fourier)",
    )
    with pytest.raises(ExportError, match="aten::fft_fft2"):
        measure(own("Spectral"))


def test_the_length_of_a_recipe_in_steps_is_shown_in_epochs() -> None:
    assert measure(digits("strategy.steps=90"), latency=False).epochs == pytest.approx(90 / 44)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="imagenet"):
        measure(load("resnet50-imagenet", ["data.num_classes=0"]), data_root=tmp_path)


def test_a_network_whose_images_are_not_here_is_measured_by_the_recipe_s_word(tmp_path: Path) -> None:
    row = measure(load("resnet50-imagenet"), latency=False, data_root=tmp_path)
    assert (row.parameters, row.epochs, row.accuracy) == (25_557_032, 90, None)


def test_a_row_survives_json() -> None:
    row = measure("lenet5-digits")
    assert msgspec.json.decode(msgspec.json.encode(row), type=Measurement) == row


def test_the_package_is_the_verb_too() -> None:
    assert luthier.measure(load("lenet5-digits"), latency=False).parameters == 61_684
