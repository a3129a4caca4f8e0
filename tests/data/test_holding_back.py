from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from luthier.data.holding_back import hold_back
from luthier.errors import DataError


@given(
    labels=st.lists(st.integers(0, 6), min_size=2, max_size=200),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32 - 1),
)
def test_both_parts_together_are_the_whole_and_every_class_gives_its_share(
    labels: list[int], share: float, seed: int
) -> None:
    array = np.array(labels, np.int32)
    assume(0 < round(share * len(array)) < len(array))
    kept, held = hold_back(array, share, seed=seed)
    assert sorted([*kept, *held]) == list(range(len(array)))
    assert len(held) == round(share * len(array))
    exact = np.bincount(array) * len(held) / len(array)
    assert (np.abs(np.bincount(array[held], minlength=len(exact)) - exact) < 1).all()
    assert (np.diff(kept) > 0).all()
    assert (np.diff(held) > 0).all()


def test_the_seed_alone_decides_which_are_held_back() -> None:
    labels = np.arange(100, dtype=np.int32) % 5
    first, again, other = (hold_back(labels, 0.2, seed=seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("share", "left"), [(0.001, "nothing to validate on"), (0.999, "nothing to train on")])
def test_a_share_that_leaves_a_part_empty_is_refused(share: float, left: str) -> None:
    with pytest.raises(DataError, match=left):
        hold_back(np.zeros(100, np.int32), share, seed=1)
