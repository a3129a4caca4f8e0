"""What a range test's losses say, on curves whose shape is known."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from luthier.tuning import RangeCurve, read_curve
from luthier.tuning.curves import smoothed

RATES = np.geomspace(1e-4, 1.0, 200)


def losses(noise: float = 0.02, seed: int = 0) -> list[float]:
    """Flat up to 1e-2, down to 1e-1, then up without limit."""
    log = np.log10(RATES)
    shape = 2.3 - 1.5 * np.clip((log + 2) / 1, 0, 1) + 8 * np.clip(log + 0.9, 0, None) ** 2
    return (shape + noise * np.random.default_rng(seed).standard_normal(len(RATES))).tolist()


def read(*segments: list[float], window: int = 50, max_thres: int = 10) -> RangeCurve:
    return read_curve(RATES.tolist(), segments, window=window, max_thres=max_thres)


def test_the_interval_lies_where_the_loss_falls() -> None:
    curve = read(losses(), losses(seed=1), losses(seed=2))
    assert curve.low == pytest.approx(1.2e-2, rel=0.4)
    assert curve.high == pytest.approx(1.1e-1, rel=0.4)
    assert curve.best is not None
    assert curve.low is not None
    assert curve.high is not None
    assert curve.low < curve.best < curve.high


def test_early_spikes_do_not_fool_it() -> None:
    """The steepest fall of the raw curve is the one behind a spike."""
    spiked = losses()
    spiked[20], spiked[21] = 9.0, 0.1
    low = read(spiked).low
    assert low is not None
    assert low > 5e-3


@pytest.mark.parametrize("wrong", [nan, inf])
def test_it_ends_at_the_first_loss_that_is_not_finite(wrong: float) -> None:
    broken = losses()[:150]
    broken.append(wrong)
    curve = read(broken, [*losses()[:150], wrong, 1.0])
    assert len(curve.losses) <= 150
    assert curve.cut in ("the loss was not finite", "the loss rose")


def test_what_comes_after_too_many_falls_is_held_to_diverge() -> None:
    assert len(read(losses(), max_thres=3).losses) < len(read(losses(), max_thres=30).losses) <= 200


def test_a_curve_that_never_falls_has_no_interval() -> None:
    noise = np.random.default_rng(3).standard_normal(200) * 0.05 + 2.3
    assert read(noise.tolist()).interval is None


def test_a_training_that_fails_at_once_gives_an_empty_curve() -> None:
    curve = read([nan], [nan, nan])
    assert (curve.losses, curve.interval) == ((), None)
    assert "not finite" in curve.cut


def test_smoothing_keeps_a_line_a_line() -> None:
    line = np.linspace(3.0, 1.0, 40)
    np.testing.assert_allclose(smoothed(line.tolist(), 11), line)
