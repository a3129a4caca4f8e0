"""Every network with every option: logits, gradients and running statistics are PyTorch's within float32's noise."""

from __future__ import annotations

from typing import Any

import pytest
from numpy.typing import NDArray

from tests.zoo.mindspore.both import compare, compare_logits

NARROW = {"width": 0.125, "stem": "cifar"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "lenet5": ("lenet5", {}),
    "lenet5 with a bypass": ("lenet5", {"bypass": True}),
    "lenet5 with a bypass and strides": ("lenet5", {"bypass": True, "pooling": "stride"}),
    "lenet5 padded and deeper": ("lenet5", {"padding": "same", "depth": 3, "activation": "silu"}),
    "lenet5 with an even kernel and listed widths": ("lenet5", {"kernel": 4, "width": [5, 9]}),
    "lenet5 with averages": ("lenet5", {"pooling": "avg", "dense": [30]}),
    "lenet5 normalised": ("lenet5", {"normalisation": "batch"}),
    "lenet5 with relu between the dense layers": ("lenet5", {"dense_activation": "relu"}),
    "lenet5 with gelu": ("lenet5", {"activation": "gelu", "dense_activation": "gelu"}),
    "lenet5 with silu": ("lenet5", {"activation": "silu", "dense_activation": "silu"}),
    "lenet5 with tanh": ("lenet5", {"activation": "tanh", "dense_activation": "tanh"}),
    "lenet5 with sigmoid": ("lenet5", {"activation": "sigmoid", "dense_activation": "sigmoid"}),
    "lenet5 with leaky relu": ("lenet5", {"activation": "leaky-relu", "dense_activation": "leaky-relu"}),
    "slim": ("slim", {"width": 0.2}),
    "slim with residuals and averages": (
        "slim",
        {"width": 0.2, "residual": True, "pooling": "avg", "activation": "silu"},
    ),
    "slim that ends with the greatest": (
        "slim",
        {"width": 0.2, "last_pooling": "max", "depth": 1, "activation": "silu"},
    ),
    "resnet18": ("resnet18", NARROW),
    "resnet18 that pools": ("resnet18", NARROW | {"reduction": "pool"}),
    "resnet18 for large images": ("resnet18", {"width": 0.125}),
    "resnet18 that begins as its shortcuts": ("resnet18", NARROW | {"zero_last": True}),
    "resnet50": ("resnet50", {"width": 0.0625, "stem": "cifar"}),
    "resnet50 that pools": ("resnet50", {"width": 0.0625, "stem": "cifar", "reduction": "pool"}),
    "bottlenecks from lists": (
        "resnet",
        {
            "block": "bottleneck",
            "layer_nums": [1, 1, 1, 1],
            "in_channels": [8, 8, 16, 24],
            "out_channels": [8, 16, 24, 32],
            "strides": [2, 1, 2, 1],
            "stem": "cifar",
        },
    ),
}
COMPILED = ("lenet5", "lenet5 with a bypass and strides", "lenet5 with gelu", "slim", "resnet18 that pools")


RESNETS = [case for case in CASES if CASES[case][0].startswith("resnet")]


def in_both_modes(cases: list[str]) -> list[tuple[str, str]]:
    """Compiled in a few cases alone: each takes seconds."""
    return [(case, "eager") for case in cases] + [(case, "graph") for case in cases if case in COMPILED]


@pytest.mark.parametrize(("case", "mode"), in_both_modes(list(CASES)), indirect=["mode"])
def test_it_computes_what_pytorch_computes(case: str, mode: str, images: NDArray[Any]) -> None:
    compare(*CASES[case], images)


@pytest.mark.parametrize(("case", "mode"), in_both_modes(RESNETS), indirect=["mode"])
def test_a_resnet_with_its_own_activation_gives_pytorch_s_logits(case: str, mode: str, images: NDArray[Any]) -> None:
    compare_logits(*CASES[case], images)
