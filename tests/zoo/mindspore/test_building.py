"""The same recipe and seed give both engines the same network, to the bit; what can't be built is refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mindspore import nn

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.zoo.mindspore import build
from luthier.zoo.mindspore.building import factory_of
from luthier.zoo.mindspore.initializing import TorchDefault
from luthier.zoo.registry import factory_of as torch_factory_of
from tests.zoo.mindspore.both import CLASSES, SHAPE, mapped, networks

Write = Callable[[str], Path]

OWN = """
from mindspore import nn

class Net(nn.Cell):
    def __init__(self, num_classes, units=8):
        super().__init__()
        self.flatten = nn.Flatten()
        self.hidden = nn.Dense(3072, units)
        self.out = nn.Dense(units, num_classes)

    def construct(self, x):
        return self.out(self.hidden(self.flatten(x)))

def broken(num_classes):
    return nn.Dense(3, "ten")

def other(num_classes):
    return num_classes
"""


@pytest.mark.parametrize("name", zoo.names())
def test_every_network_takes_the_options_of_pytorch_s(name: str) -> None:
    ours, theirs = (inspect.signature(find(name)) for find in (factory_of, torch_factory_of))
    assert ours.parameters == theirs.parameters


@pytest.mark.parametrize(
    ("name", "options", "given"),
    [
        ("lenet5", {}, {}),
        ("lenet5", {"bypass": True, "normalisation": "batch", "depth": 3, "padding": "same"}, {}),
        ("lenet5", {}, {"init": "he-normal", "init_dense": "default"}),
        ("lenet5", {}, {"init": "truncated-normal", "init_dense": "xavier-uniform"}),
        ("slim", {"width": 0.2, "residual": True}, {}),
        ("resnet18", {"width": 0.125, "zero_last": True}, {"init": "he-uniform"}),
        ("resnet50", {"width": 0.0625, "reduction": "pool"}, {}),
    ],
)
def test_the_first_weights_are_pytorch_s_to_the_bit(name: str, options: dict[str, Any], given: dict[str, Any]) -> None:
    module, cell = networks(name, options, **given)
    ours = mapped(module, cell).to_source({p.name: p.asnumpy() for p in cell.get_parameters()})
    theirs = {key: tensor.numpy() for key, tensor in module.state_dict().items()}
    assert set(ours) == set(theirs)
    assert [key for key in theirs if ours[key].tobytes() != theirs[key].tobytes()] == []


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_the_default_is_what_pytorch_s_generator_draws(seed: int) -> None:
    source = TorchDefault(seed)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        layer = torch.nn.Conv2d(3, 17, 5)
    assert np.array_equal(source.weight((17, 3, 5, 5)), layer.weight.detach().numpy())
    assert np.array_equal(source.bias((17,), 75), layer.bias.detach().numpy())  # type: ignore[union-attr]


def test_an_own_cell_keeps_mindspore_s_names_and_repeats_by_the_seed(own: Write) -> None:
    model = Model(name=f"{own(OWN)}:Net", options={"units": 5})
    first, second = (build(model, shape=SHAPE, num_classes=CLASSES, seed=4) for _ in range(2))
    assert [p.name for p in first.get_parameters()] == ["hidden.weight", "hidden.bias", "out.weight", "out.bias"]
    for one, two in zip(first.get_parameters(), second.get_parameters(), strict=True):
        assert np.array_equal(one.asnumpy(), two.asnumpy())


def test_building_an_own_cell_leaves_numpy_s_generator_as_it_was(own: Write) -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    build(Model(name=f"{own(OWN)}:Net"), shape=SHAPE, num_classes=CLASSES, seed=4)
    assert np.array_equal(before, np.random.get_state()[1])  # type: ignore[index]


def test_what_an_own_factory_raises_is_named_with_its_file(own: Write) -> None:
    with pytest.raises(ModelError, match=r"broken in .*net\.py raised TypeError"):
        build(Model(name=f"{own(OWN)}:broken"), shape=SHAPE, num_classes=CLASSES)


def test_what_is_no_cell_is_refused(own: Write) -> None:
    with pytest.raises(ModelError, match=r"gave a int, expected a mindspore\.nn\.Cell"):
        build(Model(name=f"{own(OWN)}:other"), shape=SHAPE, num_classes=CLASSES)


def test_an_unknown_network_names_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"Unknown MindSpore network 'lenet' .*\n.*'lenet5'"):
        build(Model(name="lenet"), shape=SHAPE, num_classes=CLASSES)


def test_an_option_out_of_range_is_refused_as_for_pytorch() -> None:
    for maker in (build, zoo.build):
        with pytest.raises(ModelError, match="needs an odd kernel, got 4"):
            maker(Model(name="lenet5", options={"kernel": 4, "padding": "same"}), shape=SHAPE, num_classes=CLASSES)


def test_a_cell_is_a_sequence_of_named_layers() -> None:
    cell = build(Model(name="lenet5"), shape=SHAPE, num_classes=CLASSES)
    assert isinstance(cell, nn.SequentialCell)
    assert sum(p.size for p in cell.trainable_params()) == 61_984 - 85 * (10 - CLASSES)
