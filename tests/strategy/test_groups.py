"""Which parameter gets which decay and which factor."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from luthier.errors import RecipeError
from luthier.recipe import AdamW, Momentum, Muon, ParameterGroup
from luthier.strategy import Group, ParameterInfo, groups

NETWORK = (
    ParameterInfo(name="conv1.weight", shape=(8, 3, 3, 3)),
    ParameterInfo(name="bn1.weight", shape=(8,), kind="norm"),
    ParameterInfo(name="bn1.bias", shape=(8,), kind="norm"),
    ParameterInfo(name="fc.weight", shape=(10, 8)),
    ParameterInfo(name="fc.bias", shape=(10,), kind="bias"),
)
NAMES = tuple(parameter.name for parameter in NETWORK)


def test_without_patterns_everything_is_one_group() -> None:
    assert groups(Momentum(weight_decay=0.1), NETWORK) == [Group(names=NAMES, weight_decay=0.1, learning_rate=1.0)]


def test_normalisations_and_biases_are_left_out_of_the_decay_where_the_recipe_says_so() -> None:
    optimizer = Momentum(weight_decay=1 / 32768, decay_norm_and_bias=False)
    assert groups(optimizer, NETWORK) == [
        Group(names=("conv1.weight", "fc.weight"), weight_decay=1 / 32768, learning_rate=1.0),
        Group(names=("bn1.weight", "bn1.bias", "fc.bias"), weight_decay=0.0, learning_rate=1.0),
    ]


def test_a_pattern_changes_the_decay_the_rate_or_both_and_the_first_match_counts() -> None:
    optimizer = Momentum(
        weight_decay=0.1,
        decay_norm_and_bias=False,
        groups=(
            ParameterGroup(match="fc.bias", weight_decay=0.3),
            ParameterGroup(match="fc.*", learning_rate=2.0),
            ParameterGroup(match="*.bias", learning_rate=64.0),
        ),
    )
    assert groups(optimizer, NETWORK) == [
        Group(names=("conv1.weight",), weight_decay=0.1, learning_rate=1.0),
        Group(names=("bn1.weight",), weight_decay=0.0, learning_rate=1.0),
        Group(names=("bn1.bias",), weight_decay=0.0, learning_rate=64.0),
        Group(names=("fc.weight",), weight_decay=0.1, learning_rate=2.0),
        Group(names=("fc.bias",), weight_decay=0.3, learning_rate=1.0),
    ]


def test_equal_numbers_make_one_group_however_they_came_about() -> None:
    optimizer = AdamW(weight_decay=0.1, groups=(ParameterGroup(match="fc.*", weight_decay=0.1),))
    assert groups(optimizer, NETWORK) == [Group(names=NAMES, weight_decay=0.1, learning_rate=1.0)]


def test_muon_groups_like_the_others() -> None:
    assert groups(Muon(weight_decay=0.2), NETWORK) == [Group(names=NAMES, weight_decay=0.2, learning_rate=1.0)]


def test_a_pattern_that_matches_nothing_names_the_nearest_parameter() -> None:
    with pytest.raises(RecipeError) as caught:
        groups(Momentum(groups=(ParameterGroup(match="*"), ParameterGroup(match="fc.wieght"))), NETWORK)
    assert str(caught.value) == (
        "No parameter matches 'fc.wieght' - at strategy.optimizer.groups.1.match\n  Perhaps you meant 'fc.weight'."
    )


def test_a_pattern_far_from_every_name_shows_the_first_names() -> None:
    with pytest.raises(RecipeError, match=r"The first parameters: conv1\.weight, bn1\.weight"):
        groups(Momentum(groups=(ParameterGroup(match="zzz"),)), NETWORK)


def test_a_pattern_behind_a_wider_one_is_refused_since_it_would_do_nothing() -> None:
    patterns = (ParameterGroup(match="fc.*"), ParameterGroup(match="fc.bias"))
    with pytest.raises(RecipeError, match="belongs to a group before it") as caught:
        groups(Momentum(groups=patterns), NETWORK)
    assert caught.value.at == "strategy.optimizer.groups.1.match"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_patterns_see_capitals() -> None:
    with pytest.raises(RecipeError, match="No parameter matches"):
        groups(Momentum(groups=(ParameterGroup(match="FC.*"),)), NETWORK)


@given(
    kinds=st.lists(st.sampled_from(["weight", "bias", "norm"]), min_size=1, max_size=12),
    decay=st.floats(0, 1),
    plain=st.booleans(),
)
def test_every_parameter_is_in_exactly_one_group(kinds: list[str], decay: float, plain: bool) -> None:
    parameters = [replace(NETWORK[0], name=f"p{i}.x", kind=kind) for i, kind in enumerate(kinds)]  # type: ignore[arg-type]
    optimizer = Momentum(
        weight_decay=decay, decay_norm_and_bias=plain, groups=(ParameterGroup(match="p0.*", learning_rate=3.0),)
    )
    found = [name for group in groups(optimizer, parameters) for name in group.names]
    assert sorted(found) == sorted(parameter.name for parameter in parameters)
