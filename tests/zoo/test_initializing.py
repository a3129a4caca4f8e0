"""First weights: from the recipe and the seed alone, by the initialiser that each kind of layer is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.strategy.initializers import INITIALIZERS, distribution, draw
from luthier.zoo import initialize


def build(seed: int = 1, **model: Any) -> nn.Module:
    return zoo.build(Model(**model), shape=(32, 32, 3), num_classes=10, seed=seed)


def equal(first: nn.Module, second: nn.Module) -> bool:
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    return all(torch.equal(one, other) for one, other in pairs)


def largest(module: nn.Module, name: str) -> float:
    return float(module.get_parameter(name).detach().abs().max())


@pytest.mark.parametrize("init", ["default", *INITIALIZERS])
def test_the_seed_alone_decides_whatever_was_drawn_before(init: str) -> None:
    first = build(init=init)
    torch.rand(7)
    np.random.default_rng().random()
    assert equal(first, build(init=init))
    assert not equal(first, build(init=init, seed=2))


def test_pytorch_s_own_generator_is_left_as_it_was() -> None:
    before = torch.get_rng_state()
    build()
    assert torch.equal(before, torch.get_rng_state())


def test_default_is_what_pytorch_draws_under_the_seed() -> None:
    state = torch.get_rng_state()
    torch.manual_seed(5)
    expected = nn.Conv2d(3, 6, 5, bias=False)
    torch.set_rng_state(state)
    assert torch.equal(build(seed=5).get_parameter("conv1.weight"), expected.weight)


@pytest.mark.parametrize("init", sorted(INITIALIZERS))
def test_a_named_initialiser_draws_every_weight_in_order_and_clears_the_biases(init: str) -> None:
    module = build(init=init, seed=3)
    generator = np.random.default_rng(3)
    for name, parameter in module.named_parameters():
        shape = tuple(parameter.shape)
        expected = draw(init, shape, generator) if name.endswith("weight") else np.zeros(shape, np.float32)
        np.testing.assert_array_equal(parameter.detach().numpy(), expected)


@pytest.mark.parametrize("init", sorted(INITIALIZERS))
def test_a_layer_s_deviation_is_the_initialiser_s(init: str) -> None:
    weight = build(init=init).get_parameter("fc1.weight")
    assert float(weight.detach().std()) == pytest.approx(distribution(init, (120, 400)).std, rel=0.02)


def test_dense_layers_can_have_their_own_as_the_migration_guide_has_it() -> None:
    module = build(init="xavier-uniform", init_dense="truncated-normal")
    bound = distribution("xavier-uniform", (6, 3, 5, 5)).bound
    assert 0.5 * bound < largest(module, "conv1.weight") <= bound
    assert largest(module, "fc1.weight") <= 0.02


def test_one_kind_can_stay_as_pytorch_draws_it() -> None:
    own, mixed = build(), build(init="default", init_dense="normal")
    assert torch.equal(own.get_parameter("conv1.weight"), mixed.get_parameter("conv1.weight"))
    assert not torch.equal(own.get_parameter("fc1.weight"), mixed.get_parameter("fc1.weight"))
    assert largest(mixed, "fc1.bias") == 0.0


def test_a_block_that_begins_at_zero_stays_so_and_other_norms_begin_at_one() -> None:
    module = build(name="resnet18", init="he-normal", options={"width": 0.125, "zero_last": True})
    last = [value for name, value in module.named_parameters() if name.endswith("bn2.weight")]
    others = [
        value for name, value in module.named_parameters() if name.endswith(("bn1.weight", "downsample.1.weight"))
    ]
    assert len(last) == 8
    assert all(torch.equal(value, torch.zeros_like(value)) for value in last)
    assert all(torch.equal(value, torch.ones_like(value)) for value in others)


def test_a_network_without_such_layers_says_that_nothing_was_drawn() -> None:
    module = nn.Sequential(nn.Flatten(), nn.LayerNorm(3))
    initialize(module, Model(), np.random.default_rng(1))
    with pytest.raises(ModelError, match="lenet5 has no convolution or dense layer to initialise"):
        initialize(module, Model(init="normal"), np.random.default_rng(1))
