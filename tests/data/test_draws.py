from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from luthier.data.draws import Purpose, Stream, integers, permutation, uniform

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, epoch=st.integers(0, 1000), width=st.integers(1, 7), start=st.integers(0, 50))
def test_a_stream_read_from_a_position_is_the_rest_of_the_one_read_from_the_beginning(
    seed: int, epoch: int, width: int, start: int
) -> None:
    whole = Stream(seed, epoch, Purpose.TRANSFORM, width=width).take(60)
    rest = Stream(seed, epoch, Purpose.TRANSFORM, width=width, start=start)
    np.testing.assert_array_equal(rest.take(4), whole[start : start + 4])
    np.testing.assert_array_equal(rest.take(3), whole[start + 4 : start + 7])


def test_a_stream_of_no_numbers_gives_rows_without_any() -> None:
    assert Stream(1, 0, Purpose.TRANSFORM, width=0).take(5).shape == (5, 0)


def test_seed_epoch_and_purpose_each_give_other_numbers() -> None:
    keys = [(1, 0, 16), (2, 0, 16), (1, 1, 16), (1, 0, 17)]
    drawn = [Stream(*key, width=1).take(8).tobytes() for key in keys]
    assert len(set(drawn)) == len(keys)


def test_numbers_and_order_are_the_same_with_every_numpy() -> None:
    raw = Stream(1, 2, Purpose.TRANSFORM, width=2).take(2)
    assert raw.tolist() == [[2965045189883502084, 1261055175658376622], [2228941304444028380, 12007719177311781393]]
    assert permutation(1, 2, 8).tolist() == [2, 0, 4, 7, 3, 1, 5, 6]


@given(seed=SEEDS, size=st.integers(1, 300))
def test_an_order_has_every_number_once(seed: int, size: int) -> None:
    assert sorted(permutation(seed, 0, size)) == list(range(size))


@given(bound=st.integers(1, 2**32 - 1), values=st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_whole_numbers_stay_below_their_bound(bound: int, values: list[int]) -> None:
    drawn = integers(np.array(values, np.uint64), bound)
    assert ((drawn >= 0) & (drawn < bound)).all()


def test_whole_numbers_and_shares_are_even() -> None:
    raw = Stream(3, 0, Purpose.TRANSFORM, width=1).take(90_000)[:, 0]
    np.testing.assert_allclose(np.bincount(integers(raw, 9)), 10_000, rtol=0.04)
    assert abs(uniform(raw).mean() - 0.5) < 0.005
    assert uniform(np.array([2**64 - 1], np.uint64))[0] < 1.0
