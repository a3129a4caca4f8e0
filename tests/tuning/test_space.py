"""Ranges by dotted path: what they draw, and what is refused before anything is trained."""

from __future__ import annotations

from random import Random

import pytest

from luthier.errors import RecipeError
from luthier.recipe import ParamSpec, Range, Recipe, override, parse, to_toml
from luthier.tuning import Space, ready_space, ready_spaces, space_of, with_space

TEXT = """
[space]
"strategy.optimizer.beta1" = { float = [0.8, 0.95], when = { "strategy.optimizer" = ["adam", "adamw"] } }
"strategy.optimizer" = { choice = ["momentum", "adam", "adamw"] }
"strategy.learning_rate" = { log = [0.001, 1.0] }
"model.options.depth" = { integer = [2, 4] }
"model.options.pooling" = { choice = ["max", "avg"] }
"""


def recipe(text: str = TEXT) -> Recipe:
    return parse(text, place="mine.toml", name="mine")


def refused(line: str) -> str:
    with pytest.raises(RecipeError) as caught:
        recipe(f"{TEXT}{line}\n")
    return str(caught.value)


def test_a_space_is_read_drawn_and_written() -> None:
    space = space_of(recipe())
    drawn = [space.draw(Random(seed)) for seed in range(60)]
    assert all(space.holds(values) for values in drawn)
    assert {"strategy.optimizer.beta1" in values for values in drawn} == {True, False}
    assert {values["model.options.depth"] for values in drawn} == {2, 3, 4}
    assert min(values["strategy.learning_rate"] for values in drawn) < 0.01
    assert recipe(to_toml(recipe())) == recipe()


def test_conditions_are_drawn_before_what_depends_on_them() -> None:
    order = space_of(recipe()).order
    assert order.index("strategy.optimizer") < order.index("strategy.optimizer.beta1")


def test_every_drawn_set_of_values_makes_a_recipe() -> None:
    space = space_of(recipe())
    for seed in range(20):
        values = space.draw(Random(seed))
        made = override(recipe(), ParamSpec(values).overrides())
        assert made.strategy.learning_rate == values["strategy.learning_rate"]
        assert made.strategy.optimizer.__struct_config__.tag == values["strategy.optimizer"]


def test_a_grid_leaves_out_what_does_not_apply() -> None:
    space = Space({"b": Range(choice=(1, 2), when={"a": (True,)}), "a": Range(choice=(True, False))})
    assert sorted(map(repr, space.grid())) == ["{'a': False}", "{'a': True, 'b': 1}", "{'a': True, 'b': 2}"]


def test_a_recipes_own_values_are_those_that_lie_within() -> None:
    assert space_of(recipe()).own(recipe()) == {
        "strategy.optimizer": "momentum",
        "strategy.learning_rate": 0.01,
        "model.options.depth": 2,  # which the network leaves to its width
        "model.options.pooling": "max",
    }
    listed = override(recipe(), ["model.options.width=[6,16,24]"])
    assert space_of(listed).own(listed)["model.options.depth"] == 3


@pytest.mark.parametrize("name", ready_spaces())
def test_the_ready_spaces_fit_a_recipe(name: str) -> None:
    network = {"strategy": "lenet5", "resnet": "resnet18"}.get(name, name)
    assert with_space(Recipe(name="x"), [name]).space == ready_space(name)
    made = with_space(override(Recipe(name="x"), [f"model.name={network}"]))
    assert set(ready_space(name)) <= set(made.space)
    assert set(ready_space("strategy")) <= set(made.space)


class TestMistakes:
    def test_an_unknown_field(self) -> None:
        said = refused('"strategy.learning_rat" = { log = [0.1, 1.0] }')
        assert "Unknown field 'strategy.learning_rat'" in said
        assert 'at space."strategy.learning_rat" in mine.toml' in said
        assert "Perhaps you meant 'strategy.learning_rate'" in said

    def test_a_value_that_the_field_cannot_have(self) -> None:
        assert "Expected a number of at least 0" in refused('"strategy.label_smoothing" = { float = [-0.1, 0.5] }')

    @pytest.mark.parametrize("what", ["float = [1.0, 1.0]", "integer = [4, 2]", "choice = []", "log = [2.0, 1.0]"])
    def test_an_empty_range(self, what: str) -> None:
        assert "The range is empty" in refused(f'"strategy.label_smoothing" = {{ {what} }}')

    def test_a_logarithm_of_nothing(self) -> None:
        assert "begins above 0" in refused('"strategy.label_smoothing" = { log = [0.0, 0.5] }')

    def test_none_or_two_of_the_four(self) -> None:
        assert "got none" in refused('"strategy.label_smoothing" = { }')
        assert "got float and choice" in refused('"strategy.label_smoothing" = { float = [0.0, 0.1], choice = [0.1] }')

    def test_a_condition_on_what_is_never_drawn(self) -> None:
        condition = '"strategy.label_smoothing" = { choice = [0.1], when = { %s } }'
        said = refused(condition % '"data.batch_siz" = [32]')
        assert "asks for 'data.batch_siz', which is never drawn" in said
        assert "never drawn as 7" in refused(condition % '"model.options.depth" = [7]')

    def test_conditions_that_go_round(self) -> None:
        pair = (
            '"strategy.label_smoothing" = { choice = [0.1], when = { "data.batch_size" = [32] } }\n'
            '"data.batch_size" = { choice = [32], when = { "strategy.label_smoothing" = [0.1] } }'
        )
        assert "in a circle" in refused(pair)

    def test_nothing_to_search_and_an_unknown_space(self) -> None:
        with pytest.raises(RecipeError, match=r"no \[space\]"):
            space_of(Recipe(name="x"))
        with pytest.raises(RecipeError, match="Perhaps you meant 'lenet5'"):
            with_space(Recipe(name="x"), ["lenet"])
