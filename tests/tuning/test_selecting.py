"""The selector on real trainings of the digits, a few hundred steps altogether."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

import luthier
from luthier.data import Source, open_source
from luthier.errors import RecipeError, TrainingError
from luthier.recipe import Adam, ParamSpec, load
from luthier.training import open_parts
from luthier.tuning import RangeTest, Selection, range_test, select, selection_text
from tests.training.making import digits

TEST = RangeTest(total_steps=30, init_learning_rate=1e-4, end_learning_rate=50.0, segments=2, warmup_steps=2)


def model_fn(num_classes: int, shape: tuple[int, int, int]) -> Any:
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(shape[0] * shape[1] * shape[2], num_classes))


def test_the_range_test_leaves_no_trace_in_the_session() -> None:
    data, session = open_parts(digits("strategy.optimizer=adam"))
    with data:
        session.step(next(data.train.epoch(0)), 0.01)
        before = session.state()
        curve = range_test(session, data, TEST)
        after = session.state()
    assert len(curve.losses) > 5
    assert before.keys() == after.keys()
    assert all(before[key].tobytes() == after[key].tobytes() for key in before)


@pytest.fixture(scope="module")
def selection() -> Selection:
    spec = ParamSpec({"data.batch_size": [32, 64]}, momentum=[0.0, 0.9])
    return select(digits(), param_list_spec=spec, total_steps=40)


def test_it_finds_values_for_every_listed_field(selection: Selection) -> None:
    assert set(selection.values) == {"strategy.learning_rate", "strategy.optimizer.momentum", "data.batch_size"}
    assert selection.values["strategy.optimizer.momentum"] in (0.0, 0.9)
    low, high = selection.interval or (0.0, 0.0)
    assert 1e-3 < low < high < 1.0
    assert {tried.field for tried in selection.tried} == set(selection.values)
    assert any(tried.ended and tried.steps < 40 for tried in selection.tried), "a clear loser stops early"


def test_its_recipe_has_the_values_and_holds_no_more_back_than_before(selection: Selection) -> None:
    assert selection.recipe.data.validation == 0.0
    assert selection.recipe == load(digits(), selection.param_spec.overrides())
    assert selection.judged_by == "validation accuracy"


def test_it_learns_more_than_it_would_with_a_bad_rate(selection: Selection) -> None:
    best = max(tried.accuracy or 0 for tried in selection.tried if tried.steps == 40)
    assert best > 60


def test_it_leaves_a_recipe_its_evidence_and_a_picture(selection: Selection, tmp_path: Path) -> None:
    folder = selection.save(tmp_path / "new" / "folder")
    assert load(folder / "selected.toml") == selection.recipe
    written = msgspec.json.decode((folder / "selection.json").read_bytes())
    assert written["values"] == selection.values
    assert len(written["tried"]) == len(selection.tried)
    with Image.open(folder / "learning-rate.png") as picture:
        assert picture.size == (960, 540)
    assert re.search(r"learning rates between \S+ and \S+ lower the loss", selection_text(selection))


def test_training_goes_on_with_the_values(selection: Selection, tmp_path: Path) -> None:
    run = luthier.train(
        digits(), param_spec=selection.param_spec, overrides=["strategy.steps=2", "record.images=0"], out=tmp_path
    )
    assert run.recipe.strategy.learning_rate == selection.values["strategy.learning_rate"]
    assert run.recipe.data.batch_size == selection.values["data.batch_size"]


def test_three_functions_may_stand_in_a_recipes_place() -> None:
    """Data by samples, a network of the user's own, an optimizer made from the values."""
    whole = open_source("digits")
    asked: list[float] = []

    def input_fn(run_mode: str) -> Iterator[tuple[Any, int]]:
        part = whole.part(run_mode)
        assert isinstance(part.images, np.ndarray)
        yield from zip(part.images, part.labels.tolist(), strict=True)

    def optimizer_fn(param_spec: ParamSpec) -> Adam:
        asked.append(param_spec.learning_rate)
        return Adam(beta1=param_spec["strategy.optimizer.beta1"])

    found = select(
        "lenet5-digits",
        input_fn=input_fn,
        model_fn=model_fn,
        optimizer_fn=optimizer_fn,
        param_spec=ParamSpec(learning_rate=0.01),
        param_list_spec=ParamSpec({"strategy.optimizer.beta1": [0.8, 0.9]}),
        overrides=["data.train=[]", "strategy.optimizer=adam"],
        search_learning_rate=False,
        total_steps=20,
        evaluation_total_steps=1,
        by_acc=False,
        select_by_eval=True,
    )
    assert found.recipe.model.name.endswith("test_selecting.py:model_fn")
    assert isinstance(found.recipe.strategy.optimizer, Adam)
    assert found.recipe.strategy.optimizer.beta1 == found.values["strategy.optimizer.beta1"]
    assert {tried.steps for tried in found.tried} == {20}, "nothing stops early"
    assert found.curve is None
    assert set(asked) == {0.01}


def test_weight_decays_that_make_no_difference_leave_the_default() -> None:
    found = select(
        digits("strategy.optimizer.weight_decay=1e-5"),
        param_list_spec=ParamSpec(weight_decay=[0.0, 1e-5, 1e-6]),
        search_learning_rate=False,
        total_steps=12,
    )
    assert found.values["strategy.optimizer.weight_decay"] == 1e-5


def test_a_source_given_in_code_is_what_is_trained_on() -> None:
    seen = open_source("digits")
    half = Source(name="half", classes=seen.classes, train=seen.eval, eval=seen.eval)
    found = select(digits(), data=half, param_list_spec=ParamSpec(momentum=[0.9]), total_steps=4, segments=1)
    assert found.steps > 0


class TestMistakes:
    def test_a_list_of_nothing(self) -> None:
        with pytest.raises(RecipeError, match=r"Expected a list of candidates, got \[\]"):
            select(digits(), param_list_spec=ParamSpec(momentum=[]))

    def test_a_candidate_that_the_field_cannot_be(self) -> None:
        with pytest.raises(RecipeError, match="momentum"):
            select(digits(), param_list_spec=ParamSpec(momentum=[0.9, 2.0]))

    def test_nothing_to_select(self) -> None:
        with pytest.raises(RecipeError, match="Nothing to select"):
            select(digits(), param_list_spec=ParamSpec(), search_learning_rate=False)

    def test_rates_that_all_diverge(self) -> None:
        with pytest.raises(TrainingError, match=r"No candidate for .*batch_size could be trained"):
            select(
                digits("strategy.learning_rate=1e30"),
                param_list_spec=ParamSpec(batch_size=[32]),
                search_learning_rate=False,
                total_steps=8,
            )

    def test_a_function_that_a_resume_could_not_find(self) -> None:
        with pytest.raises(RecipeError, match="top level of a file"):
            select(digits(), model_fn=lambda num_classes, shape: None)


def test_it_begins_from_another_runs_weights(tmp_path: Path) -> None:
    trained = luthier.train(digits("strategy.epochs=4"), out=tmp_path)
    (first,) = select(
        digits(),
        param_list_spec=ParamSpec(momentum=[0.9]),
        search_learning_rate=False,
        checkpoint_path=trained.path,
        total_steps=1,
    ).tried
    assert first.accuracy is not None
    assert first.accuracy > 70
