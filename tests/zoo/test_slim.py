"""Slim: its size over its options, and that an exporter finds each normalisation behind its convolution."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model


def slim(shape: tuple[int, int, int] = (32, 32, 3), **options: Any) -> nn.Module:
    return zoo.build(Model(name="slim", options=options), shape=shape, num_classes=10)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_its_size_goes_from_0_1_to_2_million() -> None:
    assert count(slim()) == 383_498
    assert 90_000 < count(slim(width=0.5)) < 110_000
    assert 1_900_000 < count(slim(width=2.3)) < 2_100_000
    assert count(slim(width=[32, 80, 144])) == count(slim())


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("residual", [False, True])
def test_depth_counts_the_convolutions_of_a_stage(depth: int, residual: bool) -> None:
    convolutions = [layer for layer in slim(depth=depth, residual=residual).modules() if isinstance(layer, nn.Conv2d)]
    assert len(convolutions) == 3 * depth


def test_a_residual_costs_no_parameter_and_changes_the_result() -> None:
    plain, residual = slim().eval(), slim(residual=True).eval()
    assert count(plain) == count(residual)
    residual.load_state_dict(dict(zip(residual.state_dict(), plain.state_dict().values(), strict=True)))
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(plain(images), residual(images))


@pytest.mark.parametrize("residual", [False, True])
def test_every_normalisation_stands_right_behind_its_convolution(residual: bool) -> None:
    layers = [layer for layer in slim(residual=residual).modules() if not list(layer.children())]
    behind = [after for before, after in pairwise(layers) if isinstance(before, nn.Conv2d)]
    assert {type(layer) for layer in behind} == {nn.BatchNorm2d}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"activation": "gelu"}, nn.GELU),
        ({"pooling": "avg"}, nn.AvgPool2d),
        ({"last_pooling": "max"}, nn.AdaptiveMaxPool2d),
    ],
)
def test_an_option_brings_its_layer(options: dict[str, Any], kind: type[nn.Module]) -> None:
    assert any(isinstance(layer, kind) for layer in slim(**options).modules())
    assert not any(isinstance(layer, kind) for layer in slim().modules())


def test_an_image_under_8x8_is_refused() -> None:
    assert slim((8, 8, 3))
    with pytest.raises(ModelError, match=r"slim halves an image three times and needs at least 8×8, got 7×8"):
        slim((7, 8, 3))


def test_channels_for_another_number_of_stages_are_refused() -> None:
    with pytest.raises(ModelError, match=r"slim has three stages, got channels for 2 - at model\.options\.width"):
        slim(width=[8, 8])
