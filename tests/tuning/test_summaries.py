"""The two summaries of a study of the course's five: measured by ablation from the winner, and told as measured."""

from __future__ import annotations

import re

import pytest

from luthier.recipe import flattened, override
from luthier.store import Run, runs
from luthier.tuning import Study, report
from tests.tuning.conftest import small, tuned


def trial_run(study: Study, number: int) -> Run:
    (run,) = runs(study.path / "trials" / f"{number:04}")
    return run


def cells(text: str, first: str) -> list[str]:
    """Of a table's row."""
    found = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", text, re.MULTILINE)
    assert found is not None, first
    return [cell.strip() for cell in found[1].split("|")]


SAID: list[str] = []


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Study:
    recipe = override(
        small(
            """"model.options.depth" = { integer = [2, 3] }
            "model.options.kernel" = { choice = [3] }
            "model.options.padding" = { choice = ["same"] }
            "model.options.pooling" = { choice = ["max", "avg"] }
            "model.options.bypass" = { choice = [false, true] }
            "strategy.optimizer.momentum" = { choice = [0.8, 0.95] }
            """
        ),
        ["strategy.learning_rate=0.0001", "strategy.epochs=1"],
    )
    return tuned(tmp_path_factory.mktemp("course") / "study", recipe, trials=3, ablate=True, workers=2, say=SAID.append)


@pytest.fixture(scope="module")
def text(course: Study, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    report(course.path, output=folder)
    return (folder / "report.md").read_text("utf-8")


def test_each_change_was_trained_without_it_and_with_all_the_others(course: Study) -> None:
    best = course.best
    assert best is not None
    assert best.number > 0
    made = flattened(trial_run(course, best.number).recipe)
    baseline = flattened(trial_run(course, 0).recipe)
    labels = set()
    for trial in course.state.of_kind("ablation"):
        labels.add(trial.label)
        run = trial_run(course, trial.number)
        result = run.result()
        assert result is not None
        assert (trial.state, result.steps, result.accuracy) == ("finished", 20, None)
        without = flattened(run.recipe)
        apart = {path for path in made if path != "name" and made[path] != without.get(path)}
        if trial.label in ("model", "training"):
            assert len(apart) > 1
            assert all(without.get(path) == baseline.get(path) for path in apart)
        else:
            assert apart == {trial.label}
    five = {f"model.options.{name}" for name in ("depth", "width", "kernel", "pooling", "bypass")}
    assert five | {"strategy.learning_rate", "model", "training"} <= labels


def test_what_is_trained_for_the_evidence_is_said(course: Study) -> None:
    trainings = len(list(course.state.of_kind("ablation")))
    assert any(f"for the evidence follow {trainings} trainings, some " in line for line in SAID)
    assert any(line.startswith("ablation, with learning_rate 0.0001: ") for line in SAID)
    assert any(line.startswith("ablation, without any change of the model: ") for line in SAID)


def test_the_report_tells_the_differences_that_were_measured(course: Study, text: str) -> None:
    best = course.best
    assert best is not None
    assert best.cost is not None
    for trial in course.state.of_kind("ablation"):
        assert trial.cost is not None
        if trial.label in ("model", "training"):
            row = cells(text.partition(f"what each change of the {trial.label} did")[2], "all changes together")
        else:
            row = cells(text, trial.label)
        accuracy, size = (best.accuracy or 0) - (trial.accuracy or 0), best.cost.size_mb - trial.cost.size_mb
        latency, score = best.cost.latency_ms - trial.cost.latency_ms, (best.score or 0) - (trial.score or 0)
        figures = [float(cell.replace("−", "-")) for cell in row[2:]]
        assert figures == pytest.approx([accuracy, size, latency, score], abs=0.006)


def test_the_rate_that_was_far_too_low_is_what_mattered(text: str) -> None:
    training = text.partition("each change of the training did")[2]
    assert re.search(r"Raised the score: strategy\.learning_rate \(\+", training)


def test_what_was_tried_has_every_field_of_the_space(course: Study, text: str) -> None:
    tried = text.partition("## What was tried")[2]
    assert next(cells(tried, path)[0] for path in course.recipe.space) == "0.005 to 0.1, by its logarithm"
    assert cells(tried, "model.options.pooling")[0] == "max, avg"
