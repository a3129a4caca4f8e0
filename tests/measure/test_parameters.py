from __future__ import annotations

import pytest
import torch

from luthier import zoo
from luthier.measure import parameters_by_layer, sizes
from luthier.recipe import Model
from tests.compress.nets import Tied


def test_the_course_s_lenet_has_the_parameters_that_the_course_states() -> None:
    module = zoo.build(Model(name="lenet5"), shape=(32, 32, 3), num_classes=10)
    layers = parameters_by_layer(module)
    assert [(layer.name, layer.kind, layer.trainable) for layer in layers] == [
        ("conv1", "Conv2d", 450),
        ("conv2", "Conv2d", 2400),
        ("fc1", "Linear", 48120),
        ("fc2", "Linear", 10164),
        ("fc3", "Linear", 850),
    ]
    assert layers[2].shapes == {"weight": (120, 400), "bias": (120,)}
    assert sizes(module).trainable == {"float32": 61_984 * 4}


@pytest.mark.parametrize("name", ["slim", "resnet18"])
def test_the_layers_parameters_add_up(name: str) -> None:
    module = zoo.build(Model(name=name), shape=(32, 32, 3), num_classes=10)
    expected = sum(value.numel() for value in module.parameters())
    assert sum(layer.trainable for layer in parameters_by_layer(module)) == expected


def test_a_shared_weight_counts_once_and_a_frozen_one_apart() -> None:
    module = Tied()
    layers = {layer.name: layer for layer in parameters_by_layer(module)}
    assert layers["first"].trainable == 1024 * 1024
    assert layers["second"].shapes == {"bias": (1024,)}
    assert (layers["last"].trainable, layers["last"].frozen) == (0, 10_250)
    stored = sizes(module)
    assert stored.trainable == {"float32": 4 * (1024 * 1024 + 1024 + 2 * 1024)}
    assert stored.frozen == {"float32": 4 * 10_250}
    assert stored.buffers == {"float32": 4 * 2 * 1024, "int64": 8}


def test_bytes_are_counted_by_dtype() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 5).half())
    assert sizes(module).trainable == {"float32": 4 * 16, "float16": 2 * 25}
