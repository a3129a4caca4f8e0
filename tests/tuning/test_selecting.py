"""The selector on real trainings of the digits, a few hundred steps altogether."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from PIL import Image

import luthier
from luthier.data import Source, open_source
from luthier.errors import RecipeError, TrainingError
from luthier.recipe import Adam, ParamSpec, load
from luthier.training import open_parts
from luthier.tuning import ModelSize, RangeTest, Selection, range_test, select, selection_text
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


def test_it_leaves_none_in_statistics_and_random_numbers_either_nor_where_it_is_broken_off() -> None:
    """Batch normalisation's running statistics and dropout's generator move with every step."""
    data, session = open_parts(digits("model.options.normalisation=batch", "model.options.dropout=0.3"))

    class Cut:
        def __init__(self) -> None:
            self.left = 20

        def state(self) -> Any:
            return session.state()

        def load(self, state: Any) -> None:
            session.load(state)

        def step(self, batch: Any, rate: float) -> Any:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return session.step(batch, rate)

    with data:
        session.step(next(data.train.epoch(0)), 0.01)
        before = session.state()
        range_test(session, data, TEST)
        whole = session.state()
        with pytest.raises(KeyboardInterrupt):
            range_test(Cut(), data, TEST)  # type: ignore[arg-type]
        broken_off = session.state()
    assert any(key.startswith("rng/") for key in before)
    assert any("running_mean" in key for key in before)
    for after in (whole, broken_off):
        assert before.keys() == after.keys()
        assert all(before[key].tobytes() == after[key].tobytes() for key in before)


def test_each_segment_sees_other_batches_and_begins_from_the_same_weights() -> None:
    data, session = open_parts(digits())
    test = RangeTest(total_steps=3, init_learning_rate=1e-9, end_learning_rate=1e-8, segments=1)
    with data:
        (one, three) = (range_test(session, data, replace(test, segments=count)).losses for count in (1, 3))
    assert one != three, "the mean of three segments' losses is not the first's"
    assert one == pytest.approx(three, abs=0.2), "at rates of nothing all segments have the first weights"


MOXING = (
    "input_fn model_fn optimizer_fn batch_size auto_batch total_steps evaluation_total_steps model_size by_acc "
    "checkpoint_path select_by_eval weight_decay_diff_thres max_thres window warmup_steps warmup_lr "
    "evaluate_every_n_steps log_every_n_steps init_learning_rate end_learning_rate acc_name loss_name "
    "search_learning_rate param_spec param_list_spec"
)


def test_it_takes_each_of_moxings_arguments_with_its_default() -> None:
    parameters = inspect.signature(select).parameters
    assert set(MOXING.split()) <= set(parameters)
    defaults = {name: parameters[name].default for name in ("weight_decay_diff_thres", "max_thres", "window")}
    assert defaults == {"weight_decay_diff_thres": 0.05, "max_thres": 10, "window": 50}


def test_each_of_moxings_arguments_does_what_it_says() -> None:
    """Those that no other test here is about."""
    said: list[str] = []
    found = select(
        digits(),
        param_list_spec=ParamSpec(momentum=[0.9]),
        batch_size=100,
        total_steps=8,
        evaluation_total_steps=1,
        evaluate_every_n_steps=3,
        log_every_n_steps=4,
        init_learning_rate=2e-4,
        end_learning_rate=0.2,
        warmup_steps=5,
        warmup_lr=1e-4,
        max_thres=60,
        window=1,
        segments=2,
        acc_name="top1",
        loss_name="xent",
        select_by_eval=True,
        say=said.append,
    )
    assert found.recipe.data.batch_size == 100
    assert found.curve is not None
    assert found.curve.learning_rates[0] == pytest.approx(2e-4)
    assert found.curve.learning_rates[-1] == pytest.approx(0.2)
    assert len(found.curve.learning_rates) == 60, "as many falls are allowed as the test has steps"
    assert found.steps == 2 * (60 + 5) + sum(tried.steps for tried in found.tried)
    for tried in found.tried:
        assert [step for step, _, _ in tried.curve] == [3, 6, 8]
        assert all(accuracy == pytest.approx(round(accuracy)) for _, accuracy, _ in tried.curve), "of 100 images"
    assert any("top1" in line and "xent" in line for line in said)
    assert sum("training xent" in line for line in said) == 2 * len(found.tried)
    assert found.judged_by == "validation top1"


@pytest.mark.parametrize(("size", "first"), [("small", 1e-4), ("large", 1e-5)])
def test_a_large_model_begins_at_lower_rates(size: ModelSize, first: float) -> None:
    spec = ParamSpec(momentum=[0.9])
    found = select(digits(), param_list_spec=spec, model_size=size, total_steps=1, segments=1)
    assert found.curve is not None
    assert found.curve.learning_rates[0] == pytest.approx(first)


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
