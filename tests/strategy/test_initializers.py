"""The initialisers' numbers, and that what is drawn follows them."""

from __future__ import annotations

import math
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch

from luthier.errors import RecipeError
from luthier.recipe import Model
from luthier.strategy import initializers
from luthier.strategy.initializers import Distribution, distribution, draw, fans

CONV2 = (16, 6, 5, 5)  # LeNet-5's second convolution: 150 in, 400 out
FC1 = (120, 400)


def test_the_fans_of_a_filter_count_its_kernel() -> None:
    assert fans(CONV2) == (150, 400)
    assert fans(FC1) == (400, 120)
    with pytest.raises(ValueError, match="no inputs and outputs"):
        fans((7,))


GOLDEN: list[tuple[str, tuple[int, ...], str, float, float]] = [
    ("normal", CONV2, "normal", 0.01, 0.01),
    ("normal", FC1, "normal", 0.01, 0.01),
    ("truncated-normal", CONV2, "truncated-normal", 0.01, 0.0087962566103423978),
    ("truncated-normal", FC1, "truncated-normal", 0.01, 0.0087962566103423978),
    ("xavier-uniform", CONV2, "uniform", math.sqrt(6 / 550), math.sqrt(2 / 550)),
    ("xavier-uniform", FC1, "uniform", math.sqrt(6 / 520), math.sqrt(2 / 520)),
    ("he-normal", CONV2, "normal", math.sqrt(2 / 150), math.sqrt(2 / 150)),
    ("he-normal", FC1, "normal", math.sqrt(2 / 400), math.sqrt(2 / 400)),
    ("he-uniform", CONV2, "uniform", math.sqrt(6 / 150), math.sqrt(2 / 150)),
    ("he-uniform", FC1, "uniform", math.sqrt(6 / 400), math.sqrt(2 / 400)),
]


@pytest.mark.parametrize(("name", "shape", "kind", "scale", "std"), GOLDEN)
def test_an_initialiser_has_its_golden_numbers(
    name: str, shape: tuple[int, ...], kind: str, scale: float, std: float
) -> None:
    found = distribution(name, shape)
    assert found.kind == kind
    assert found.scale == pytest.approx(scale, rel=1e-12)
    assert found.std == pytest.approx(std, rel=1e-12)


@pytest.mark.parametrize("name", sorted(initializers.INITIALIZERS))
@pytest.mark.parametrize("shape", [(64, 32, 3, 3), (300, 200)])
def test_what_is_drawn_has_the_stated_deviation_and_stays_within_the_stated_bound(
    name: str, shape: tuple[int, ...]
) -> None:
    values = draw(name, shape, np.random.default_rng(1))
    expected = distribution(name, shape)
    assert values.shape == shape
    assert values.dtype == np.float32
    assert abs(float(values.mean())) < 0.02 * expected.std
    assert float(values.std()) == pytest.approx(expected.std, rel=0.02)
    assert float(np.abs(values).max()) <= expected.bound * (1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "fill"),
    [
        ("he-normal", lambda weight: torch.nn.init.kaiming_normal_(weight, nonlinearity="relu")),
        ("he-uniform", lambda weight: torch.nn.init.kaiming_uniform_(weight, nonlinearity="relu")),
        ("xavier-uniform", torch.nn.init.xavier_uniform_),
        ("truncated-normal", lambda weight: torch.nn.init.trunc_normal_(weight, std=0.01, a=-0.02, b=0.02)),
        ("normal", lambda weight: torch.nn.init.normal_(weight, std=0.01)),
    ],
)
def test_pytorch_s_own_initialiser_has_the_same_deviation(name: str, fill: object) -> None:
    torch.manual_seed(1)
    weight = fill(torch.empty(64, 32, 3, 3))  # type: ignore[operator]
    assert float(weight.std()) == pytest.approx(distribution(name, (64, 32, 3, 3)).std, rel=0.02)


def test_equal_generators_draw_equal_weights_and_go_on_differently() -> None:
    first, second = np.random.default_rng(7), np.random.default_rng(7)
    for name in initializers.INITIALIZERS:
        np.testing.assert_array_equal(draw(name, CONV2, first), draw(name, CONV2, second))
    assert not np.array_equal(draw("normal", CONV2, first), draw("normal", CONV2, first))


def test_a_normal_distribution_has_no_bound() -> None:
    assert Distribution(kind="normal", scale=1.0).bound == math.inf


def test_an_unknown_initialiser_names_the_nearest() -> None:
    with pytest.raises(RecipeError, match=r"Unknown initialiser 'he-nromal' - at model.init\n.*'he-normal'"):
        distribution("he-nromal", CONV2)


def test_every_initialiser_of_the_recipe_has_its_numbers_and_its_docstring() -> None:
    named = set(get_args(get_type_hints(Model)["init"]))
    assert named - {"default"} == set(initializers.INITIALIZERS)
    assert all(function.__doc__ for function in initializers.INITIALIZERS.values())
