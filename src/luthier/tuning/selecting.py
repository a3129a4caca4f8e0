"""Short pre-trainings choose the learning rate, momentum, weight decay, and whatever else is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from luthier.data import Source, open_source
from luthier.engines import Session
from luthier.errors import RecipeError
from luthier.recipe import ParamSpec, Recipe, as_override, load, override
from luthier.strategy import total_steps as planned_steps
from luthier.training import open_recipe_data
from luthier.tuning.candidates import Judging
from luthier.tuning.course import DECAY, MOMENTUM, RATE, Course, Say
from luthier.tuning.curves import RangeCurve
from luthier.tuning.functions import own_model, own_source
from luthier.tuning.range_test import RangeTest, range_test
from luthier.tuning.selection import Selection
from luthier.zoo import check_options

__all__ = ["ModelSize", "select"]

ModelSize = Literal["small", "large"]

LISTS = {MOMENTUM: [0.8, 0.9, 0.95], DECAY: [0.0, 1e-4, 5e-4, 2e-3]}  # where none are given
SHARE = 0.07  # of a full training: what a selection takes unless its steps are given
LEAST_STEPS = 60  # of a pre-training
LARGE = 1_000_000  # parameters
RANGES = {"small": (1e-4, 3.0), "large": (1e-5, 1.0)}
ADAPTIVE = 1 / 30  # Adam's steps have the rate's own size, whatever the gradient's
RATES = 4  # candidates within the interval
NEAR = (0.5,)  # of the rate, once the other values are known: no more, since a full training would be at it for longer


def select(
    recipe: str | Path | Recipe | None = None,
    *,
    input_fn: Callable[..., Any] | None = None,
    model_fn: Callable[..., Any] | None = None,
    optimizer_fn: Callable[..., Any] | None = None,
    param_spec: ParamSpec | None = None,
    param_list_spec: ParamSpec | None = None,
    batch_size: int | None = None,
    auto_batch: bool = True,
    total_steps: int | None = None,
    evaluation_total_steps: int | None = None,
    model_size: ModelSize | None = None,
    by_acc: bool = True,
    checkpoint_path: Path | str | None = None,
    select_by_eval: bool = False,
    weight_decay_diff_thres: float = 0.05,
    max_thres: int = 10,
    window: int = 50,
    warmup_steps: int = 0,
    warmup_lr: float = 0.01,
    evaluate_every_n_steps: int | None = None,
    log_every_n_steps: int | None = None,
    init_learning_rate: float | None = None,
    end_learning_rate: float | None = None,
    acc_name: str = "accuracy",
    loss_name: str = "loss",
    search_learning_rate: bool = True,
    segments: int = 3,
    overrides: Iterable[str] = (),
    data_root: Path | str | None = None,
    data: Source | None = None,
    say: Say = lambda text: None,
) -> Selection:
    """Values for a recipe's fields, in at most a tenth of the time of one full training unless steps are given.

    `param_spec` has the defaults, `param_list_spec` the candidates of any field. A candidate is trained for
    `total_steps` and judged on `evaluation_total_steps` batches of the validation part, by accuracy or by loss; clear
    losers stop early unless `select_by_eval`. Weight decays whose curves differ by less than
    `weight_decay_diff_thres` count as equal, and the default stays. The learning rate's interval comes from a range
    test, which `warmup_steps` at `warmup_lr` burn in, `window` smooths, and `max_thres` falls end.
    """
    begun = perf_counter()
    source = own_source(input_fn, auto_batch=auto_batch) if input_fn else data
    start = load(recipe if recipe is not None else Recipe(name="selection"), overrides)
    if batch_size:
        start = override(start, [f"data.batch_size={batch_size}"])
    if checkpoint_path:
        start = override(start, [as_override("start.path", str(checkpoint_path)), "start.sha256=''"])
    if model_fn:
        start = own_model(start, model_fn)
    lists = _lists(start, param_list_spec, search_learning_rate=search_learning_rate)
    course = Course(
        recipe=start,
        values=dict(param_spec.items()) if param_spec else {},
        optimizer_fn=optimizer_fn,
        source=source,
        data_root=data_root,
        say=say,
        names=(acc_name, loss_name),
    )
    first = course.recipe_with({})
    if course.source is None and not any(path in lists for path in ("data.name", "data.path")):
        course.source = open_source(first.data.name, path=first.data.path, root=data_root)  # read once for all
    with open_recipe_data(first, data_root, course.source) as opened:
        full, batches = planned_steps(first.strategy, opened.train.steps), opened.split("validation").steps
        for path, values in lists.items():
            for value in values:
                made = course.recipe_with({path: value}).model
                check_options(made, shape=opened.shape, num_classes=len(opened.classes))
    steps = total_steps or _steps(full, lists, search=search_learning_rate)
    judging = Judging(
        by_acc=by_acc,
        total_steps=steps,
        evaluation_total_steps=min(evaluation_total_steps or batches, batches),
        stop_losers=not select_by_eval,
        evaluate_every_n_steps=evaluate_every_n_steps or 0,
        log_every_n_steps=log_every_n_steps or 0,
    )
    course.judging = judging
    curve = None
    if search_learning_rate:
        with course.opened({}) as (session, dataset):
            size = model_size or _size(session)
            low, high = _range(first, size, init_learning_rate, end_learning_rate)
            test = RangeTest(
                total_steps=max(LEAST_STEPS, steps // 4),
                init_learning_rate=low,
                end_learning_rate=high,
                warmup_steps=warmup_steps,
                warmup_lr=warmup_lr,
                window=window,
                max_thres=max_thres,
                segments=segments,
            )
            say(f"learning-rate range test from {low:g} to {high:g}: {segments} segments of {test.total_steps} steps")
            curve = range_test(session, dataset, test)
            course.steps += segments * (test.total_steps + warmup_steps)
        course.choose(RATE, _rates(curve, first, lists.pop(RATE, None), course.notes))
    for path, values in lists.items():
        course.choose(path, values, equal_within=weight_decay_diff_thres if path == DECAY else 0.0)
    if search_learning_rate and lists:
        rate = course.values[RATE]
        course.choose(RATE, [rate, *(rate * factor for factor in NEAR)])
    final = course.recipe_with({}, validation=start.data.validation)
    return Selection(
        recipe=final,
        values=course.chosen(final),
        curve=curve,
        tried=tuple(course.tried),
        steps=course.steps,
        seconds=perf_counter() - begun,
        judged_by=f"validation {acc_name if by_acc else loss_name}",
        notes=tuple(course.notes),
    )


def _lists(recipe: Recipe, given: ParamSpec | None, *, search_learning_rate: bool) -> dict[str, list[Any]]:
    """The lists that were given, or momentum and weight decay where the optimizer has them."""
    lists = dict(given.items()) if given is not None else {}
    for path, values in lists.items():
        if not isinstance(values, list | tuple) or not values:
            raise RecipeError(f"Expected a list of candidates, got {values!r}", at=path)
        for value in values:
            override(recipe, ParamSpec({path: value}).overrides())
    if given is None:
        own = recipe.strategy.optimizer.__struct_fields__
        lists = {path: values for path, values in LISTS.items() if path.rpartition(".")[2] in own}
    if not lists and not search_learning_rate:
        raise RecipeError("Nothing to select: no candidates are listed, and the learning rate is not searched")
    return {path: list(values) for path, values in lists.items()}


def _steps(full: int, lists: dict[str, list[Any]], *, search: bool) -> int:
    """So many that all pre-trainings together take their share of a full training; half of each is stopped early."""
    candidates = (RATES + len(NEAR) if search else 0) + sum(max(len(values) - 1, 1) for values in lists.values())
    return max(LEAST_STEPS, int(SHARE * full / (0.55 * candidates + (0.75 if search else 0))))


def _size(session: Session) -> ModelSize:
    return "large" if sum(prod(info.shape) for info in session.parameters) > LARGE else "small"


def _range(recipe: Recipe, size: ModelSize, low: float | None, high: float | None) -> tuple[float, float]:
    if size not in RANGES:
        raise RecipeError(f"Expected a model size of 'small' or 'large', got '{size}'", at="model_size")
    scale = ADAPTIVE if str(recipe.strategy.optimizer.__struct_config__.tag).startswith("adam") else 1.0
    first, last = (limit * scale for limit in RANGES[size])
    low, high = low or first, high or last
    if not 0 < low < high:
        raise RecipeError(f"Expected learning rates with 0 < init < end, got {low:g} and {high:g}")
    return low, high


def _rates(curve: RangeCurve, recipe: Recipe, listed: list[Any] | None, notes: list[str]) -> list[float]:
    """Candidates for the rate: those listed, or a few within the interval; where there is none, around the recipe's."""
    if listed:
        return listed
    if curve.interval is None:
        notes.append(
            "The range test shows no rate at which the loss clearly falls: rates around the recipe's were tried"
        )
        rate = recipe.strategy.learning_rate
        return [rate, rate / 3, rate * 3]
    low, high = curve.interval
    return [float(f"{rate:.3g}") for rate in np.geomspace(low, high, RATES)]
