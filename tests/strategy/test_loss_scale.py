"""The dynamic loss scale as arithmetic, beside PyTorch's own."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from luthier.strategy import LossScale


def test_it_begins_at_65_536_and_halves_on_an_overflow() -> None:
    assert LossScale() == LossScale(scale=65_536.0, good_steps=0, growth_interval=2000, factor=2.0)
    assert LossScale(good_steps=7).updated(finite=False) == LossScale(scale=32_768.0)


def test_it_doubles_after_exactly_2000_finite_steps() -> None:
    state = LossScale(scale=1024.0)
    for _ in range(1999):
        state = state.updated(finite=True)
    assert state == LossScale(scale=1024.0, good_steps=1999)
    assert state.updated(finite=True) == LossScale(scale=2048.0, good_steps=0)


def test_it_never_falls_below_one() -> None:
    state = LossScale(scale=1.5)
    for _ in range(5):
        state = state.updated(finite=False)
    assert state.scale == 1.0


@given(st.lists(st.booleans(), max_size=40))
def test_pytorch_s_scaler_takes_the_same_way(finite_steps: list[bool]) -> None:
    ours = LossScale(scale=2.0**40, growth_interval=3)
    scale, tracker = torch.tensor(2.0**40), torch.tensor(0, dtype=torch.int32)
    for finite in finite_steps:
        ours = ours.updated(finite=finite)
        torch._amp_update_scale_(scale, tracker, torch.tensor(0.0 if finite else 1.0), 2.0, 0.5, 3)
        assert (ours.scale, ours.good_steps) == (float(scale), int(tracker))
