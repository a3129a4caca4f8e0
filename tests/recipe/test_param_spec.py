"""Values by the short names of this field."""

from __future__ import annotations

import pytest

from luthier.errors import RecipeError
from luthier.recipe import ParamSpec, load


def test_short_names_mean_the_recipes_fields() -> None:
    spec = ParamSpec({"model.options.width": [8, 16]}, learning_rate=0.1, momentum=0.95, weight_decay=1e-4)
    assert dict(spec.items()) == {
        "model.options.width": [8, 16],
        "strategy.learning_rate": 0.1,
        "strategy.optimizer.momentum": 0.95,
        "strategy.optimizer.weight_decay": 1e-4,
    }
    assert (spec.momentum, spec["weight_decay"]) == (0.95, 1e-4)
    assert spec.merged({"momentum": 0.9}).momentum == 0.9


def test_a_recipe_takes_the_values_whichever_came_first() -> None:
    """An optimizer is chosen before its momentum is set."""
    spec = ParamSpec(
        {
            "strategy.optimizer.momentum": 0.7,
            "strategy.optimizer": "nesterov",
            "data.normalize": {"std": [0.5], "mean": [0.1]},
        }
    )
    recipe = load("lenet5-digits", spec.overrides())
    assert recipe.strategy.optimizer.__struct_config__.tag == "nesterov"
    assert recipe.strategy.optimizer.momentum == 0.7  # type: ignore[union-attr]
    assert recipe.data.normalize.std == (0.5,)


def test_a_name_that_is_unknown_or_means_several_fields_is_refused() -> None:
    with pytest.raises(RecipeError, match="Perhaps you meant 'learning_rate'"):
        ParamSpec(learning_rat=0.1)
    with pytest.raises(RecipeError, match=r"may mean checkpoint\.every_steps or record\.every_steps"):
        ParamSpec(every_steps=5)
    with pytest.raises(AttributeError, match="beta"):
        ParamSpec(momentum=0.9).beta  # noqa: B018
