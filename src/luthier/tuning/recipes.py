"""From a study's recipe and a trial's values to the recipe that is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from luthier.recipe import ParamSpec, Recipe, override
from luthier.tuning.space import Space, Values, value_at

__all__ = ["best_recipe", "changes", "cost_key", "final_recipe", "put_back", "trial_recipe"]

HELD_BACK = 0.1  # of the training part, where the recipe holds nothing back


def best_recipe(recipe: Recipe, values: Mapping[str, Any], name: str = "") -> Recipe:
    """The recipe with the values: what a person would train."""
    bare = replace(recipe, space={}, name=name or recipe.name)
    return override(bare, ParamSpec(values).overrides())


def trial_recipe(recipe: Recipe, values: Mapping[str, Any], name: str) -> Recipe:
    """Judged on a part of the training part after every epoch; what only fills the disk is left out."""
    made = best_recipe(recipe, values, name)
    data = replace(made.data, validation=made.data.validation or HELD_BACK, workers=1)
    return replace(made, data=data, checkpoint=replace(made.checkpoint, keep=1), record=_frugal(made))


def final_recipe(recipe: Recipe, values: Mapping[str, Any], name: str, seed: int) -> Recipe:
    """On all of the training part, with a seed of its own."""
    made = best_recipe(recipe, values, name)
    strategy = replace(made.strategy, seed=seed)
    return replace(made, strategy=strategy, record=_frugal(made, every=0), checkpoint=replace(made.checkpoint, keep=1))


def _frugal(recipe: Recipe, every: int = 1) -> Any:
    return replace(recipe.record, histograms=False, images=0, evaluate_every_epochs=every, every_steps=1000)


def changes(recipe: Recipe, values: Mapping[str, Any]) -> Values:
    """The values that are not the recipe's own."""
    made = best_recipe(recipe, values)
    return {path: value for path, value in values.items() if value_at(recipe, path) != value_at(made, path)}


def put_back(recipe: Recipe, space: Space, values: Mapping[str, Any], path: str) -> Values:
    """The values with one of them as the recipe has it, and without those that were drawn on its account."""
    own = value_at(recipe, path)
    kept = {name: value for name, value in values.items() if name != path}
    if space.ranges[path].holds(own):
        kept[path] = own
    return {name: value for name, value in kept.items() if name == path or _applies(space, name, kept, path)}


def _applies(space: Space, name: str, values: Mapping[str, Any], changed: str) -> bool:
    allowed = space.ranges[name].when.get(changed)
    return allowed is None or values.get(changed) in allowed


def cost_key(recipe: Recipe) -> str:
    """Networks that are alike cost alike: size and latency are taken once."""
    return msgspec.json.encode([recipe.model, recipe.data.name, recipe.data.eval, recipe.score]).decode()
