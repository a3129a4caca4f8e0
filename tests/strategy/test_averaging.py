"""The moving average's decay."""

from __future__ import annotations

import pytest

from luthier.strategy import average_decay


def test_the_decay_rises_to_the_recipe_s_and_stays_there() -> None:
    assert average_decay(0.999, 0) == 0.1
    assert average_decay(0.999, 10) == pytest.approx(11 / 20)
    assert average_decay(0.999, 8990) == pytest.approx(8991 / 9000)
    assert average_decay(0.999, 8991) == 0.999
    assert average_decay(0.999, 10**9) == 0.999


def test_a_decay_of_zero_follows_the_weights_at_once() -> None:
    assert average_decay(0.0, 5) == 0.0
