"""Numbers that no machine could follow are refused where they stand."""

from __future__ import annotations

import re

import pytest

from luthier.errors import RecipeError
from luthier.recipe import Recipe, load, override
from luthier.strategy import total_steps


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("strategy.learning_rate=inf", "Expected a finite number, got inf - at strategy.learning_rate in mine"),
        ("score.accuracy=-inf", "Expected a finite number, got -inf - at score.accuracy in mine"),
        ("data.normalize={mean=[nan], std=[1]}", "Expected a finite number, got nan - at data.normalize.mean.0"),
        ("model.options={width=inf}", "Expected a finite number, got inf - at model.options.width"),
        ("strategy.epochs=99999999999", "Expected at most 1,000,000, got 99,999,999,999 - at strategy.epochs in mine"),
        ("strategy.epochs=99999999999999999999999", "Expected at most 1,000,000, got 99,999,999,999,999,999,999,999"),
        ("strategy.steps=99999999", "Expected at most 50,000,000"),
        ("data.batch_size=99999999999", "at data.batch_size"),
        ("data.train=[{name='resize', size=99999999}]", "Expected at most 16,384, got 99,999,999 - at data.train.0.s"),
    ],
)
def test_a_number_that_cannot_be_meant(setting: str, told: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(told)):
        override(Recipe(name="mine"), [setting])


def test_a_run_that_its_data_makes_too_long() -> None:
    strategy = override(Recipe(), ["strategy.epochs=1000000"]).strategy
    with pytest.raises(RecipeError, match=r"at most 50,000,000 steps, got 1,562,000,000.*\n  An epoch has 1,562 steps"):
        total_steps(strategy, 1562)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (
            "data.train=[{name='color-jitter', contrast=.3}]",
            "Not TOML: Invalid value, in [{name='color-jitter', contrast=.3}] - at data.train in lenet5-digits.toml\n"
            "  A number begins with a digit: 0.3 in place of .3",
        ),
        ("strategy.optimizer.groups=[{match='a'", "Not TOML: Unclosed inline table"),
        ("data.train=7", "Expected a list, each item a table, got 7 - at data.train"),
        ("data.train=random-crop", "Expected a list, each item a table, got 'random-crop' - at data.train"),
    ],
)
def test_a_list_that_is_none_says_what_is_wrong_with_it(setting: str, told: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load("lenet5-digits", [setting])
    assert str(caught.value).startswith(told)
