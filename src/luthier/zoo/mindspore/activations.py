"""The activations that a network's options can name, as PyTorch means them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from mindspore import Tensor, nn, ops

__all__ = ["ACTIVATIONS", "Tanh"]

SATURATED = 9.0  # float32's tanh is 1 from here on, and float16 still holds cosh


class Tanh(nn.Cell):
    """The hyperbolic tangent to float32's last bit or two: MindSpore 2.10's own is off by 1e-4 near ±5 on a CPU."""

    def construct(self, x: Tensor) -> Tensor:
        """Inputs beyond saturation have no gradient, as their true one is below float32's grain."""
        inner = ops.clamp(x, -SATURATED, SATURATED)
        return ops.sinh(inner) / ops.cosh(inner)


ACTIVATIONS: Mapping[str, Callable[[], nn.Cell]] = {
    "relu": nn.ReLU,
    "gelu": partial(nn.GELU, approximate=False),  # MindSpore's default is the tanh approximation
    "silu": nn.SiLU,
    "tanh": Tanh,
    "sigmoid": nn.Sigmoid,
    "leaky-relu": partial(nn.LeakyReLU, alpha=0.01),  # MindSpore's default is 0.2
}
