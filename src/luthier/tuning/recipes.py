"""From a study's recipe and a trial's values to the recipe that is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from luthier.recipe import ParamSpec, Recipe, override
from luthier.tuning.space import Space, Values, listed, value_at

__all__ = [
    "best_recipe",
    "changes",
    "cost_key",
    "final_recipe",
    "kept_fields",
    "other_value",
    "put_back",
    "replaced",
    "trial_recipe",
]

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


def kept_fields(recipe: Recipe, space: Space, values: Mapping[str, Any]) -> list[str]:
    """The fields that might have been changed and were not."""
    changed = changes(recipe, values)
    return [path for path in space.order if path not in changed and space.wants(path, values)]


def put_back(recipe: Recipe, space: Space, values: Mapping[str, Any], *paths: str) -> Values:
    """The values with some of them as the recipe has them, and without those that were drawn on their account."""
    own = {path: value_at(recipe, path) for path in paths}
    possible = {path: value for path, value in own.items() if space.ranges[path].holds(value)}
    rest = {path: value for path, value in values.items() if path not in paths}
    return _fitting(space, {**rest, **possible}, set(paths))


def replaced(space: Space, values: Mapping[str, Any], new: Values) -> Values:
    """The values with others in their place, and without those that were drawn on the account of what is gone."""
    return _fitting(space, {**values, **new}, set(new))


def _fitting(space: Space, values: Values, touched: set[str]) -> Values:
    """What was drawn on the condition of something that is different now falls away, and whatever hangs on that."""
    fitting: Values = {}
    for path in space.order:
        conditions = space.ranges[path].when
        if any(name in touched and fitting.get(name) not in allowed for name, allowed in conditions.items()):
            touched.add(path)
        elif path in values:
            fitting[path] = values[path]
    return fitting


def other_value(
    recipe: Recipe, space: Space, values: Mapping[str, Any], path: str, tried: Sequence[Mapping[str, Any]]
) -> Any:
    """What a field that was kept might have been: as the best of the others has it, or the first that is listed."""
    own = value_at(best_recipe(recipe, values), path)
    candidates = [*(other[path] for other in tried if path in other), *listed(space.ranges[path])]
    return next((value for value in candidates if value != own), None)


def cost_key(recipe: Recipe) -> str:
    """Networks that are alike cost alike: size and latency are taken once."""
    return msgspec.json.encode([recipe.model, recipe.data.name, recipe.data.eval, recipe.score]).decode()
