from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import ArrayLike, NDArray

from luthier.store.histogram import BINS, histogram


@given(arrays.arrays(np.float64, st.integers(0, 50), elements=st.floats(allow_nan=True, allow_infinity=True)))
def test_every_value_is_counted_once_and_every_edge_rises(values: NDArray[np.float64]) -> None:
    found = histogram(values)
    finite = values[np.isfinite(values)]
    assert found.count == found.counts.sum() == finite.size
    assert found.count + sum(found.not_finite.values()) == values.size
    assert np.all(np.diff(found.limits) > 0)
    assert len(found.limits) == len(found.counts)
    if finite.size:
        assert (found.minimum, found.maximum) == (finite.min(), finite.max())
        assert found.limits[-1] == found.maximum


def test_sums_are_those_of_the_values() -> None:
    values = np.random.default_rng(0).normal(size=10_000).astype(np.float32)
    found = histogram(values)
    assert found.total == pytest.approx(values.astype(np.float64).sum())
    assert found.total_squares == pytest.approx(np.square(values.astype(np.float64)).sum())
    assert len(found.counts) == BINS


def test_values_that_are_all_alike_share_one_bin() -> None:
    found = histogram(np.full(7, 1e20))
    assert found.limits.tolist() == [1e20]
    assert found.counts.tolist() == [7]


def test_a_range_of_fewer_floats_than_bins_has_fewer_bins() -> None:
    found = histogram([0.0, 5e-324])
    assert found.counts.sum() == 2


def test_a_range_wider_than_the_greatest_float_is_counted() -> None:
    found = histogram([-1.7e308, 0.0, 1.7e308])
    assert found.counts.sum() == 3


def test_what_is_not_finite_is_named_with_its_number() -> None:
    found = histogram([1.0, np.nan, np.inf, np.inf, -np.inf])
    assert found.not_finite == {"nan": 1, "positive-infinity": 2, "negative-infinity": 1}


def test_an_array_of_nothing_finite_gives_a_histogram_of_nothing() -> None:
    found = histogram(np.full(3, np.nan))
    assert (found.count, found.limits.size, found.not_finite) == (0, 0, {"nan": 3})


@pytest.mark.parametrize("values", [np.array([True, False]), np.arange(5, dtype=np.uint8), np.float16(3.0), 4])
def test_whole_numbers_truths_and_single_values_are_values_too(values: ArrayLike) -> None:
    assert histogram(values).count == np.size(values)
