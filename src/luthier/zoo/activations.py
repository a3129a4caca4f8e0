"""The activations that a network's options can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

__all__ = ["ACTIVATIONS"]

ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "leaky-relu": nn.LeakyReLU,
}
