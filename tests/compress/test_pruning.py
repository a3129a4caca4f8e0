"""Channels that are cut out: whichever were zero already change no answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from luthier.compress.channels import plan
from luthier.compress.pruning import chosen_channels, pruned
from luthier.engines import open_session
from luthier.errors import ExportError
from luthier.recipe import Compress, Model, Recipe

SHAPE, CLASSES = (32, 32, 3), 10
SMALL = {"width": 0.125, "stem": "cifar"}
NETWORKS = {
    "lenet5": Model(name="lenet5"),
    "lenet5, deep, normalised, with a bypass": Model(
        name="lenet5", options={"depth": 3, "kernel": 3, "normalisation": "batch", "bypass": True, "dense": [40]}
    ),
    "lenet5 with one dense layer": Model(name="lenet5", options={"dense": [], "pooling": "avg"}),
    "slim": Model(name="slim", options={"width": 0.25}),
    "slim with shortcuts": Model(name="slim", options={"width": [8, 12, 20], "depth": 3, "residual": True}),
    "slim of one convolution a stage": Model(name="slim", options={"width": 0.25, "depth": 1, "residual": True}),
    "resnet18": Model(name="resnet18", options=SMALL | {"zero_last": True}),
    "resnet50": Model(name="resnet50", options={"width": 0.125, "reduction": "pool"}),
    "a ResNet of its own lists": Model(
        name="resnet",
        options={
            "block": "basic",
            "layer_nums": [1, 2, 1, 1],
            "in_channels": [12, 8, 16, 16],
            "out_channels": [8, 16, 16, 24],
            "strides": [1, 2, 1, 2],
            "stem": "cifar",
        },
    ),
}

Weights = dict[str, NDArray[Any]]


def opened(model: Model, weights: Weights | None = None) -> Any:
    session = open_session(Recipe(model=model, engine="torch"), shape=SHAPE, num_classes=CLASSES, training=False)
    if weights is not None:
        session.load({f"model/{name}": array for name, array in weights.items()})
    return session


def trained(model: Model) -> Weights:
    """As after a training: no two channels alike, the normalisations' statistics and scales included."""
    draw = np.random.default_rng(0)
    weights: Weights = {key.removeprefix("model/"): array for key, array in opened(model).state().items()}
    for name, array in weights.items():
        if array.ndim == 1:
            weights[name] = draw.uniform(0.5, 1.5, array.shape).astype(np.float32)
    return weights


@pytest.mark.parametrize("by", ["scale", "filters"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_without_its_silent_channels_answers_as_before(name: str, by: Any) -> None:
    """Whatever gives to a channel that goes is silenced first: then nothing is lost but its place."""
    model, config = NETWORKS[name], Compress(prune=0.4, prune_by=by)
    weights = trained(model)
    found = plan(model, {key: array.shape for key, array in weights.items()})
    for channels, chosen in chosen_channels(found, weights, config):
        for slot in channels.slots:
            if slot.axis == 0 and "running" not in slot.name:
                silent = np.setdiff1d(np.arange(len(weights[slot.name])), chosen)
                weights[slot.name][silent] = 0
    smaller, cut = pruned(model, weights, config)
    images = np.random.default_rng(1).integers(0, 256, (4, *SHAPE), np.uint8)
    before, after = opened(model, weights).logits(images), opened(smaller, cut).logits(images)
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-4)
    assert sum(array.size for array in cut.values()) < 0.7 * sum(array.size for array in weights.values())


@pytest.mark.parametrize("name", NETWORKS)
def test_it_can_be_pruned_again(name: str) -> None:
    model, weights = pruned(NETWORKS[name], trained(NETWORKS[name]), Compress(prune=0.3))
    again, fewer = pruned(model, weights, Compress(prune=0.3))
    assert opened(again, fewer).logits(np.zeros((2, *SHAPE), np.uint8)).shape == (2, CLASSES)


def test_the_channels_of_the_least_scale_go() -> None:
    weights = trained(NETWORKS["slim"])
    scale = weights["stage1.norm1.weight"]
    smaller, cut = pruned(NETWORKS["slim"], weights, Compress(prune=0.5))
    assert smaller.options == {"width": [4, 10, 18]}
    assert sorted(cut["stage1.norm1.weight"]) == sorted(scale)[4:]
    assert list(cut["stage1.norm1.weight"]) == [value for value in scale if value in sorted(scale)[4:]]


def test_the_filters_of_the_least_weight_go_where_nothing_is_normalised() -> None:
    weights = trained(NETWORKS["lenet5"])
    weights["conv1.weight"][[1, 4]] *= 0.01
    smaller, cut = pruned(NETWORKS["lenet5"], weights, Compress(prune=0.34))
    assert smaller.options == {"width": [4, 11], "dense": [79, 55]}
    assert np.array_equal(cut["conv1.weight"], weights["conv1.weight"][[0, 2, 3, 5]])
    assert cut["fc1.weight"].shape == (79, 11 * 25)


def test_no_layer_is_left_without_a_channel() -> None:
    smaller, _ = pruned(NETWORKS["slim"], trained(NETWORKS["slim"]), Compress(prune=0.99))
    assert smaller.options == {"width": [1, 1, 1]}


class TestRefusals:
    def test_a_network_that_cannot_be_followed_is_named(self) -> None:
        with pytest.raises(ExportError, match=r"The channels of net\.py:Net cannot be followed.* - at model\.name"):
            pruned(Model(name="net.py:Net"), {}, Compress())

    def test_a_share_that_takes_nothing(self) -> None:
        with pytest.raises(ExportError, match=r"0\.001 takes no channel away .* - at compress\.prune"):
            pruned(NETWORKS["lenet5"], trained(NETWORKS["lenet5"]), Compress(prune=0.001))

    def test_a_shortcut_that_would_lose_its_convolution(self) -> None:
        model = NETWORKS["a ResNet of its own lists"]
        lists = model.options | {"in_channels": [2, 1, 16, 16], "out_channels": [1, 16, 16, 24]}
        odd = Model(name="resnet", options=lists)
        with pytest.raises(ExportError, match="stage 1 of resnet would take and give 1 channels"):
            pruned(odd, trained(odd), Compress(prune=0.6))
