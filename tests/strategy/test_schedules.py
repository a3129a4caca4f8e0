"""Every schedule against the course's formulas, PyTorch's schedulers, and the laws that hold for all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch.optim import SGD, lr_scheduler

from luthier.recipe import (
    Constant,
    Cosine,
    Exponential,
    OneCycle,
    Polynomial,
    Schedule,
    Square,
    Stage,
    Strategy,
)
from luthier.strategy import learning_rates, total_steps
from luthier.strategy.schedules import curve

EPOCH = 1562  # CIFAR-10's 50,000 training images in batches of 32, the remainder dropped


def rates(schedule: Schedule, *, epochs: int = 4, lr: float = 0.1, epoch: int = 25) -> NDArray[np.float32]:
    return learning_rates(Strategy(epochs=epochs, learning_rate=lr, schedule=schedule), epoch)


def course(
    total: int, decay: Callable[[int], float], *, lr: float, lr_init: float = 0.0, warm: int = 0
) -> NDArray[np.float32]:
    """The course's build_lr, written again: a Python loop over the steps."""
    climb = (lr - lr_init) / warm if warm else 0.0
    return np.array([lr_init + climb * i if i < warm else decay(i) for i in range(total)]).astype(np.float32)


# What must not change: the course.


def test_the_course_s_baseline_has_78_100_rates_and_falls_as_its_formula_says() -> None:
    baseline = Strategy()
    result = learning_rates(baseline, EPOCH)
    total = 50 * EPOCH
    assert total_steps(baseline, EPOCH) == total == 78_100
    expected = course(total, lambda i: 0.5 * 0.01 * (1 + math.cos(math.pi * i / total)), lr=0.01)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-12)
    assert result.dtype == np.float32
    assert result[0] == np.float32(0.01)
    assert result[total // 2] == np.float32(0.005)


def test_resnet50_climbs_from_0_01_for_five_epochs_and_then_falls_by_squares() -> None:
    recipe = Strategy(epochs=90, learning_rate=0.1, schedule=Square(warmup_epochs=5, lr_init=0.01))
    total, warm = 90 * EPOCH, 5 * EPOCH
    expected = course(total, lambda i: 0.1 * (1.0 - (i - warm) / (total - warm)) ** 2, lr=0.1, lr_init=0.01, warm=warm)
    result = learning_rates(recipe, EPOCH)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-12)
    assert result[0] == np.float32(0.01)
    assert result[warm] == np.float32(0.1)


GOLDEN: list[tuple[str, Schedule, dict[int, float]]] = [
    # A hundred steps of four epochs at a rate of 0.1; a warm-up, where there is one, takes the first epoch.
    ("constant", Constant(), {0: 0.1, 50: 0.1, 99: 0.1}),
    ("constant after a warm-up", Constant(warmup_epochs=1), {0: 0.0, 5: 0.02, 24: 0.096, 25: 0.1, 99: 0.1}),
    ("cosine", Cosine(), {0: 0.1, 50: 0.05, 25: 0.05 * (1 + math.sqrt(0.5))}),
    (
        "cosine after a warm-up has already fallen where it begins",
        Cosine(warmup_epochs=1, lr_init=0.05),
        {0: 0.05, 5: 0.06, 24: 0.098, 25: 0.05 * (1 + math.sqrt(0.5)), 50: 0.05},
    ),
    (
        "cosine that starts at the warm-up's end",
        Cosine(warmup_epochs=1, start="warmup"),
        {0: 0.0, 25: 0.1, 50: 0.075, 75: 0.025},
    ),
    ("cosine down to an end value", Cosine(end=0.02), {0: 0.1, 50: 0.06}),
    ("cosine as a staircase", Cosine(staircase=True), {0: 0.1, 24: 0.1, 50: 0.05, 74: 0.05}),
    ("square", Square(), {0: 0.1, 50: 0.025, 90: 0.001}),
    ("square after a warm-up", Square(warmup_epochs=1), {0: 0.0, 5: 0.02, 25: 0.1, 40: 0.064, 70: 0.016}),
    ("polynomial of power 1", Polynomial(), {0: 0.1, 50: 0.05, 90: 0.01}),
    ("polynomial of power 3", Polynomial(power=3.0), {0: 0.1, 50: 0.0125}),
    ("polynomial after a warm-up, to an end", Polynomial(warmup_epochs=1, end=0.02), {5: 0.02, 25: 0.1, 70: 0.052}),
    ("exponential", Exponential(factor=0.25), {0: 0.1, 25: 0.025, 50: 0.00625, 75: 0.0015625}),
    ("exponential between epochs", Exponential(factor=0.25, every_epochs=2), {25: 0.05, 50: 0.025}),
    ("exponential as a staircase", Exponential(factor=0.5, staircase=True), {24: 0.1, 25: 0.05, 49: 0.05, 50: 0.025}),
    ("exponential after a warm-up", Exponential(factor=0.25, warmup_epochs=1), {0: 0.0, 5: 0.02, 25: 0.025}),
    ("stage", Stage(milestones=(1, 2)), {24: 0.1, 25: 0.01, 49: 0.01, 50: 0.001, 99: 0.001}),
    ("stage after a warm-up", Stage(milestones=(2,), warmup_epochs=1), {0: 0.0, 5: 0.02, 25: 0.1, 50: 0.01}),
    ("one-cycle", OneCycle(rise=0.5, divide=10, divide_end=100), {0: 0.01, 49: 0.1, 99: 0.0001}),
    (
        "one-cycle after a warm-up, which leads to where the cycle begins",
        OneCycle(rise=0.5, divide=10, divide_end=100, warmup_epochs=1),
        {0: 0.0, 5: 0.002, 25: 0.01, 99: 0.0001},
    ),
]


@pytest.mark.parametrize(("schedule", "expected"), [case[1:] for case in GOLDEN], ids=[case[0] for case in GOLDEN])
def test_a_schedule_has_its_golden_values(schedule: Schedule, expected: dict[int, float]) -> None:
    result = rates(schedule)
    assert {step: pytest.approx(rate, rel=1e-6, abs=1e-9) for step, rate in expected.items()} == {
        step: result[step] for step in expected
    }


def test_the_staircase_is_mindspore_s_cosine_decay_lr() -> None:
    low, high, total, epoch, epochs = 0.01, 0.256, 100, 25, 4
    mindspore = [
        low + 0.5 * (high - low) * (1 + math.cos(math.pi * min(i // epoch, epochs) / epochs)) for i in range(total)
    ]
    np.testing.assert_allclose(rates(Cosine(end=low, staircase=True), lr=high), mindspore, rtol=1e-6)


def test_a_length_in_steps_takes_the_place_of_epochs() -> None:
    run = Strategy(epochs=50, steps=1000, learning_rate=0.1, schedule=Square())
    assert total_steps(run, EPOCH) == 1000
    assert len(learning_rates(run, EPOCH)) == 1000
    assert learning_rates(run, EPOCH)[500] == np.float32(0.025)


def test_a_run_cut_shorter_than_its_warm_up_climbs_at_the_planned_slope() -> None:
    run = Strategy(steps=10, learning_rate=0.1, schedule=Square(warmup_epochs=1))
    np.testing.assert_allclose(learning_rates(run, 100), [0.001 * i for i in range(10)], rtol=1e-6)


# What must hold by another route: PyTorch's schedulers, stepped once a step or once an epoch.


def torch_rates(build: Callable[[SGD], Any], total: int, *, every: int = 1, lr: float = 0.1) -> list[float]:
    optimizer = SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    scheduler = build(optimizer)
    found = []
    for step in range(total):
        found.append(float(optimizer.param_groups[0]["lr"]))
        optimizer.step()
        if (step + 1) % every == 0 and step + 1 < total:
            scheduler.step()
    return found


DIFFERENTIAL: list[tuple[str, Schedule, Callable[[SGD], Any], int]] = [
    ("CosineAnnealingLR", Cosine(end=0.003), lambda o: lr_scheduler.CosineAnnealingLR(o, 100, eta_min=0.003), 1),
    ("CosineAnnealingLR by epoch", Cosine(staircase=True), lambda o: lr_scheduler.CosineAnnealingLR(o, 4), 25),
    ("PolynomialLR", Polynomial(power=2.5), lambda o: lr_scheduler.PolynomialLR(o, 100, 2.5), 1),
    ("PolynomialLR of power 2", Square(), lambda o: lr_scheduler.PolynomialLR(o, 100, 2.0), 1),
    ("ExponentialLR by epoch", Exponential(staircase=True), lambda o: lr_scheduler.ExponentialLR(o, 0.9), 25),
    ("MultiStepLR by epoch", Stage(milestones=(3, 1)), lambda o: lr_scheduler.MultiStepLR(o, [1, 3]), 25),
    ("ConstantLR", Constant(), lambda o: lr_scheduler.ConstantLR(o, 1.0), 1),
    ("OneCycleLR", OneCycle(), lambda o: lr_scheduler.OneCycleLR(o, 0.1, 100, cycle_momentum=False), 1),
    (
        "OneCycleLR, divided otherwise",
        OneCycle(rise=0.45, divide=4.0, divide_end=50.0),
        lambda o: lr_scheduler.OneCycleLR(
            o, 0.1, 100, pct_start=0.45, div_factor=4.0, final_div_factor=50.0, cycle_momentum=False
        ),
        1,
    ),
]


@pytest.mark.parametrize(
    ("schedule", "build", "every"), [case[1:] for case in DIFFERENTIAL], ids=[case[0] for case in DIFFERENTIAL]
)
def test_a_schedule_equals_pytorch_s(schedule: Schedule, build: Callable[[SGD], Any], every: int) -> None:
    np.testing.assert_allclose(rates(schedule), torch_rates(build, 100, every=every), rtol=2e-6, atol=1e-10)


# Laws.

SCHEDULES: list[Schedule] = [kind() for kind in get_args(Schedule)]


@given(
    schedule=st.sampled_from(SCHEDULES),
    epochs=st.integers(1, 12),
    epoch=st.integers(1, 40),
    warmup=st.floats(0.0, 15.0),
    lr=st.floats(1e-5, 10.0),
)
def test_every_rate_is_finite_not_negative_and_never_above_the_recipe_s(
    schedule: Schedule, epochs: int, epoch: int, warmup: float, lr: float
) -> None:
    warmed = type(schedule)(warmup_epochs=warmup)
    result = learning_rates(Strategy(epochs=epochs, learning_rate=lr, schedule=warmed), epoch)
    assert len(result) == epochs * epoch
    assert np.isfinite(result).all()
    assert (result >= 0).all()
    assert (result <= np.float32(lr) * (1 + 1e-6)).all()


# The union and the formulas stay together.


@pytest.mark.parametrize("kind", get_args(Schedule), ids=lambda kind: kind.__name__)
def test_every_schedule_of_the_recipe_has_its_formula_and_says_it(kind: type[Schedule]) -> None:
    formula = curve.dispatch(kind)
    assert formula is not curve.dispatch(object), f"{kind.__name__} has no formula"
    assert formula.__doc__
    assert "lr" in formula.__doc__


def test_a_schedule_without_a_formula_is_our_bug_and_says_so() -> None:
    with pytest.raises(NotImplementedError, match="no formula for the schedule Strategy"):
        curve(Strategy(), 0.1, None)  # type: ignore[arg-type]
