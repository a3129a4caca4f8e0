"""What no single field can tell: whether a recipe's parts fit together."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from luthier.errors import RecipeError
from luthier.recipe.numbers import require_numbers
from luthier.recipe.param_spec import ParamSpec
from luthier.recipe.ranges import check_ranges
from luthier.recipe.records import Recipe
from luthier.recipe.transforms import RandomResizedCrop

__all__ = ["check"]

DEVICE = re.compile(r"auto|cpu|(cuda|gpu|ascend):\d+")


def check(recipe: Recipe, place: str) -> None:
    """Refuse what could only fail later, or silently do something else."""
    require_numbers(recipe, place)
    if not DEVICE.fullmatch(recipe.device):
        raise RecipeError(
            f"Expected a device such as auto, cpu, cuda:0, gpu:0 or ascend:0, got '{recipe.device}'",
            at=f"device in {place}",
        )
    _normalize(recipe, place)
    _start(recipe, place)
    _strategy(recipe, place)
    _transforms(recipe, place)
    _pipeline(recipe, place)
    if recipe.space:
        _space(recipe, place)


def _normalize(recipe: Recipe, place: str) -> None:
    mean, std = recipe.data.normalize.mean, recipe.data.normalize.std
    if len(mean) != len(std) or not mean:
        raise RecipeError(
            f"Expected as many deviations as means, got {len(std)} and {len(mean)}", at=f"data.normalize in {place}"
        )


def _start(recipe: Recipe, place: str) -> None:
    start = recipe.start
    for field in ("fresh", "sha256"):
        if getattr(start, field) and not start.path:
            raise RecipeError(
                f"start.{field} speaks of weights that come from elsewhere, and start.path names none",
                at=f"start.{field} in {place}",
            )


def _strategy(recipe: Recipe, place: str) -> None:
    strategy = recipe.strategy
    warmup = strategy.schedule.warmup_epochs
    if not strategy.steps and warmup >= strategy.epochs:
        raise RecipeError(
            f"Expected a warm-up shorter than the run's {strategy.epochs} epochs, got {warmup:g}",
            at=f"strategy.schedule.warmup_epochs in {place}",
        )
    if strategy.teacher_sha256 and not strategy.teacher:
        raise RecipeError(
            "strategy.teacher_sha256 speaks of a teacher, and strategy.teacher names none",
            at=f"strategy.teacher_sha256 in {place}",
        )
    split = strategy.allreduce_split
    if any(before >= after for before, after in pairwise(split)):
        raise RecipeError(f"Expected positions that rise, got {list(split)}", at=f"strategy.allreduce_split in {place}")
    if strategy.loss_scale != 1.0 and strategy.precision != "float16":
        raise RecipeError(
            f"A loss scale serves float16 alone, not {strategy.precision}", at=f"strategy.loss_scale in {place}"
        )


def _pipeline(recipe: Recipe, place: str) -> None:
    if recipe.data.pipeline == "minddata" and recipe.data.on_error == "skip":
        raise RecipeError(
            "MindData does not count the images that it leaves out",
            at=f"data.on_error in {place}",
            hint='Set data.on_error = "stop", or data.pipeline = "luthier".',
        )


def _transforms(recipe: Recipe, place: str) -> None:
    for part in ("train", "eval"):
        for position, transform in enumerate(getattr(recipe.data, part)):
            if isinstance(transform, RandomResizedCrop):
                for field in ("scale", "ratio"):
                    low, high = getattr(transform, field)
                    if not 0 < low <= high:
                        raise RecipeError(
                            f"Expected a range with 0 < low ≤ high, got [{low:g}, {high:g}]",
                            at=f"data.{part}.{position}.{field} in {place}",
                        )


def _space(recipe: Recipe, place: str) -> None:
    """Every range is tried at its ends, with the conditions met: a field that is not there would fail every trial."""
    from luthier.recipe.overrides import override

    check_ranges(recipe.space, place)
    bare = replace(recipe, space={})
    for path, item in recipe.space.items():
        for value in item.ends:
            try:
                override(bare, ParamSpec(_conditions(recipe, path) | {path: value}).overrides())
            except RecipeError as error:
                raise RecipeError(error.sentence, at=f'space."{path}" in {place}', hint=error.hint) from None


def _conditions(recipe: Recipe, path: str) -> dict[str, Any]:
    met: dict[str, Any] = {}
    for condition, values in recipe.space[path].when.items():
        met |= _conditions(recipe, condition)
        met[condition] = next(value for value in values if recipe.space[condition].holds(value))
    return met
