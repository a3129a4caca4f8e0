"""The learning rate of every step, of runs and of recipes, over each other: before an hour is spent on one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from luthier.data import describe
from luthier.errors import DataError, StoreError
from luthier.recipe import Recipe, load
from luthier.store import load_checkpoint, open_run, write_picture
from luthier.strategy import Plan, draw_schedules
from luthier.training.running import open_recipe_data

__all__ = ["plans", "schedule"]

Source = Recipe | Path | str


def schedule(
    recipes: Iterable[Source],
    *,
    overrides: Iterable[str] = (),
    output: Path | str = "schedule.png",
    steps_per_epoch: int | None = None,
    data_root: Path | str | None = None,
) -> Path:
    """Draw their schedules; `steps_per_epoch` is for data that are not here and whose length nothing else tells."""
    drawn = plans(recipes, overrides=overrides, steps_per_epoch=steps_per_epoch, data_root=data_root)
    return write_picture(output, partial(draw_schedules, drawn), more=(".svg",))


def plans(
    recipes: Iterable[Source],
    *,
    overrides: Iterable[str] = (),
    steps_per_epoch: int | None = None,
    data_root: Path | str | None = None,
) -> list[Plan]:
    """A curve for each, in the order given."""
    sources, changes = list(recipes), tuple(overrides)
    loaded = [load(source, changes) for source in sources]
    return [
        Plan(label=label, strategy=recipe.strategy, steps_per_epoch=_steps(source, recipe, steps_per_epoch, data_root))
        for label, source, recipe in zip(_labels(sources, loaded), sources, loaded, strict=True)
    ]


def _labels(sources: Sequence[Source], recipes: Sequence[Recipe]) -> list[str]:
    """A recipe's name, or where several share one, what each was asked for by."""
    count = Counter(recipe.name for recipe in recipes)
    return [
        recipe.name if count[recipe.name] == 1 or isinstance(source, Recipe) else Path(source).name
        for source, recipe in zip(sources, recipes, strict=True)
    ]


def _steps(source: Source, recipe: Recipe, otherwise: int | None, data_root: Path | str | None) -> int:
    """By what is known of the set, else by a run's own checkpoint, else as told, else by the files."""
    if known := describe(recipe.data, accumulate=recipe.strategy.accumulate):
        return known.steps_per_epoch
    if steps := _recorded(source) or otherwise:
        return steps
    try:
        with open_recipe_data(recipe, data_root) as data:
            return data.train.steps
    except DataError as error:
        error.hint = f"{error.hint or ''} Or say how long an epoch is: --steps-per-epoch 1562".strip()
        raise


def _recorded(source: Source) -> int | None:
    """What a run's last checkpoint says of its data."""
    if isinstance(source, Recipe) or not Path(source).is_dir():
        return None
    try:
        checkpoints = open_run(source).checkpoints()
        return int(load_checkpoint(checkpoints[-1]).progress["data"]["steps_per_epoch"]) if checkpoints else None
    except StoreError:
        return None
