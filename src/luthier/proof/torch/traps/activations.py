"""Activations and softmax."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []


@trap(
    "gelu-form",
    functional.gelu,
    hint="Write nn.GELU(approximate=False): MindSpore's default is the tanh approximation.",
)
def the_other_gelu(call: FunctionCall) -> Any:
    """The candidate's GELU is the tanh approximation where the reference's is exact, or the other way round."""
    return call.again(approximate="tanh" if call["approximate"] == "none" else "none")


@trap("gelu-form", functional.gelu, hint="Take nn.GELU(approximate=False).")
def sigmoid_gelu(call: FunctionCall) -> Any:
    """The candidate's GELU is x·sigmoid(1.702x)."""
    return call["input"] * torch.sigmoid(1.702 * call["input"])


@trap(
    "negative-slope",
    functional.leaky_relu,
    hint="Write alpha=… : nn.LeakyReLU of MindSpore has 0.2, PyTorch 0.01.",
    values=(0.2, 0.01, 0.1, 0.0, 0.3),
)
def another_slope(call: FunctionCall, value: float) -> Any:
    """The candidate's leaky ReLU has another slope below zero."""
    return NotImplemented if call["negative_slope"] == value else call.again(negative_slope=value, inplace=False)


@trap("alpha", functional.elu, functional.celu, hint="Write alpha as the reference has it.", values=(1.0, 0.5, 0.1))
def another_alpha(call: FunctionCall, value: float) -> Any:
    """The candidate's exponential unit has another alpha."""
    return NotImplemented if call["alpha"] == value else call.again(alpha=value, inplace=False)


@trap(
    "activation",
    functional.relu,
    torch.relu,
    functional.gelu,
    functional.silu,
    functional.leaky_relu,
    functional.elu,
    functional.hardswish,
    functional.hardtanh,
    torch.tanh,
    torch.sigmoid,
    hint="Take the reference's activation.",
    values=("identity", "relu", "relu6", "gelu", "silu", "tanh", "sigmoid", "hardswish"),
)
def another_activation(call: FunctionCall, value: str) -> Any:
    """The candidate has another activation."""
    x = next(iter(call.arguments.values()))
    if value == "identity":
        return x
    named = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}.get(value) or getattr(functional, value)
    return named(x)


@trap(
    "softmax-axis",
    functional.softmax,
    functional.log_softmax,
    torch.softmax,
    torch.Tensor.softmax,
    hint="Write axis=… as the reference's dim.",
    values=(-1, 1, 0, 2),
)
def another_axis(call: FunctionCall, value: int) -> Any:
    """The candidate's softmax goes along another axis."""
    x = next(iter(call.arguments.values()))
    if not -x.ndim <= value < x.ndim:
        return NotImplemented
    taken = functional.log_softmax if call.function is functional.log_softmax else functional.softmax
    return taken(x, dim=value)
