"""LeNet-5: exactly the course's, and each option alone."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model


def lenet5(shape: tuple[int, int, int] = (32, 32, 3), **options: Any) -> nn.Module:
    return zoo.build(Model(name="lenet5", options=options), shape=shape, num_classes=10)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_parameters_are_the_course_s() -> None:
    found = [(name, parameter.numel()) for name, parameter in lenet5().named_parameters()]
    assert found == [
        ("conv1.weight", 450),
        ("conv2.weight", 2400),
        ("fc1.weight", 48000),
        ("fc1.bias", 120),
        ("fc2.weight", 10080),
        ("fc2.bias", 84),
        ("fc3.weight", 840),
        ("fc3.bias", 10),
    ]
    assert sum(numel for _, numel in found) == 61_984


class Course(nn.Module):
    """The course's network, written as the course writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(3, 6, 5, bias=False)
        self.conv2 = nn.Conv2d(6, 16, 5, bias=False)
        self.pool = nn.MaxPool2d(2, stride=2)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc3(self.fc2(self.fc1(x.flatten(1))))


def test_it_computes_what_the_course_s_network_computes() -> None:
    ours, course = lenet5(), Course()
    course.load_state_dict(ours.state_dict())
    images = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(ours(images), course(images), rtol=0, atol=0)


def test_a_grey_image_takes_two_planes_of_filters_less() -> None:
    assert count(lenet5((32, 32, 1))) == 61_984 - 2 * 6 * 25
    assert count(lenet5((28, 28, 1))) == 6 * 25 + 2400 + 16 * 4 * 4 * 120 + 120 + 10080 + 84 + 840 + 10


OPTIONS: list[tuple[dict[str, Any], int]] = [
    ({"width": 2}, 12 * 3 * 25 + 32 * 12 * 25 + 800 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"width": [8, 8]}, 8 * 3 * 25 + 8 * 8 * 25 + 200 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"width": [4]}, 4 * 3 * 25 + 4 * 196 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"depth": 1}, 450 + 6 * 196 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"depth": 3, "kernel": 3}, 9 * (18 + 96 + 512) + 32 * 4 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"kernel": 3}, 9 * (18 + 96) + 16 * 36 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"padding": "same"}, 2850 + 16 * 64 * 120 + 120 + 10080 + 84 + 840 + 10),
    ({"dense": []}, 2850 + 400 * 10 + 10),
    ({"dense": [32]}, 2850 + 400 * 32 + 32 + 320 + 10),
    ({"normalisation": "batch"}, 61_984 + 2 * (6 + 16)),
    ({"pooling": "avg"}, 61_984),
    ({"pooling": "stride"}, 61_984),
    ({"dropout": 0.5}, 61_984),
    ({"activation": "gelu", "dense_activation": "tanh"}, 61_984),
    ({"bypass": True}, 61_984 + 3 * 6 + 6 * 16),
    ({"bypass": True, "pooling": "stride", "kernel": 4}, 16 * (18 + 96) + 114 + 69_120 + 120 + 10080 + 84 + 850),
]


@pytest.mark.parametrize(("options", "parameters"), OPTIONS, ids=[str(case[0]) for case in OPTIONS])
def test_an_option_changes_the_parameters_by_what_it_says(options: dict[str, Any], parameters: int) -> None:
    assert count(lenet5(**options)) == parameters


def test_an_option_puts_its_layers_where_it_says() -> None:
    layers = lenet5(activation="silu", dense_activation="relu", normalisation="batch", pooling="avg", dropout=0.25)
    assert [name for name, _ in layers.named_children()] == [
        *("conv1", "norm1", "act1", "pool1", "conv2", "norm2", "act2", "pool2", "flatten"),
        *("dropout1", "fc1", "fc_act1", "dropout2", "fc2", "fc_act2", "dropout3", "fc3"),
    ]
    kinds = [type(layers.get_submodule(name)) for name in ("act1", "pool2", "fc_act1", "dropout3")]
    assert kinds == [nn.SiLU, nn.AvgPool2d, nn.ReLU, nn.Dropout]


@pytest.mark.parametrize("kernel", [1, 2, 4, 5])
@pytest.mark.parametrize("pooling", ["max", "stride"])
def test_a_bypass_is_the_convolution_plus_a_1x1_of_the_middle(kernel: int, pooling: str) -> None:
    module = lenet5(bypass=True, kernel=kernel, pooling=pooling)
    conv1 = module.get_submodule("conv1")
    images = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    low, size = (kernel - 1) // 2, 33 - kernel
    stride = 2 if pooling == "stride" else 1
    shortcut = nn.functional.conv2d(images, conv1.get_parameter("shortcut.weight"))
    expected = nn.functional.conv2d(images, conv1.get_parameter("conv.weight"))
    expected = expected + shortcut[:, :, low : low + size, low : low + size]
    torch.testing.assert_close(conv1(images), expected[:, :, ::stride, ::stride], rtol=1e-4, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(1, 24),
    kernel=st.integers(1, 5),
    depth=st.integers(1, 3),
    pooling=st.sampled_from(["max", "avg", "stride"]),
    padding=st.sampled_from(["valid", "same"]),
    bypass=st.booleans(),
)
def test_a_network_that_is_not_refused_runs(
    size: int, kernel: int, depth: int, pooling: str, padding: str, bypass: bool
) -> None:
    with suppress(ModelError):
        module = lenet5(
            (size, 24, 2), kernel=kernel, depth=depth, pooling=pooling, padding=padding, bypass=bypass, dense=[4]
        )
        assert module(torch.zeros(1, 2, size, 24)).shape == (1, 10)


def test_an_image_too_small_is_refused_by_the_layer_where_it_ends() -> None:
    assert lenet5((16, 16, 3))
    with pytest.raises(ModelError) as caught:
        lenet5((15, 32, 3))
    assert str(caught.value) == (
        "lenet5 runs out of image at conv2 with its kernel of 5: 5×14 is left of 15×32 - at model.options\n"
        '  Take larger images, a smaller kernel or depth, or padding = "same".'
    )


def test_a_depth_that_contradicts_the_listed_channels_is_refused() -> None:
    with pytest.raises(ModelError, match=r"Expected 3 channels, got 2 - at model\.options\.width"):
        lenet5(depth=3, width=[6, 16], padding="same")
    with pytest.raises(ModelError, match="Expected some channels, got 0"):
        lenet5(width=[])


def test_padding_to_the_same_size_needs_a_middle() -> None:
    with pytest.raises(ModelError, match="'same' padding needs an odd kernel, got 4"):
        lenet5(padding="same", kernel=4)
