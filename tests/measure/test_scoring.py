from __future__ import annotations

import pytest

from luthier.measure import score
from luthier.recipe import Score


def test_the_course_s_baseline_has_the_score_that_its_figures_give() -> None:
    assert score(66.3, 0.248, 0.53) == pytest.approx(0.5 * 66.3 - 0.35 * 0.248 - 0.15 * 0.53)
    assert score(66.3, 0.248, 0.53) == pytest.approx(32.98, abs=0.005)


def test_the_weights_are_the_recipes() -> None:
    assert score(90, 2, 3, Score(accuracy=1, size=10, latency=0)) == 70
