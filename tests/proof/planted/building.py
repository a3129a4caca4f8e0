"""Layers of both frameworks, made alike, that the planted faults change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore
import numpy as np
import torch
from mindspore import Tensor, nn, ops
from torch.nn import functional

__all__ = [
    "EVALUATION",
    "IMAGE",
    "ROWS",
    "SEQUENCE",
    "TRAINING",
    "WEIGHT",
    "Case",
    "Cell",
    "Halved",
    "Lstm",
    "Module",
    "MsLstm",
    "Reordered",
    "Turned",
    "attention",
    "conv",
    "norm",
    "resize",
    "small",
    "tconv",
    "tresize",
]


IMAGE, ROWS, SEQUENCE = "3,4,9,9", "5,12", "3,6,8"
EVALUATION, TRAINING = "forward, evaluation", "forward, training"


class Cell(nn.Cell):  # type: ignore[misc]
    """A function as a layer."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, x: Tensor) -> Tensor:
        return self.function(x)


class Module(torch.nn.Module):
    """A function as a layer."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(x)


def conv(before: int = 4, after: int = 4, size: Any = 3, **given: Any) -> Callable[[], Any]:
    return lambda: nn.Conv2d(before, after, size, **({"pad_mode": "pad", "padding": 0, "has_bias": True} | given))


def tconv(before: int = 4, after: int = 4, size: Any = 3, **given: Any) -> Callable[[], Any]:
    return lambda: torch.nn.Conv2d(before, after, size, **given)


def norm(kind: Any, *args: Any, **given: Any) -> Callable[[], Any]:
    """With scales and statistics that are not 1 and 0."""

    def made() -> Any:
        layer = kind(*args, **given)
        draw = torch.Generator().manual_seed(3)
        for name, value in layer.state_dict().items():
            if value.is_floating_point():
                moved = torch.rand(value.shape, generator=draw) + (0.5 if "var" in name or "weight" in name else -0.5)
                value.copy_(moved)
        return layer

    return made


def small(x: Any) -> Any:
    """A deviation so small that epsilon counts."""
    return x * 0.01


class Lstm(torch.nn.Module):
    def __init__(self, kind: Any = torch.nn.LSTM, **given: Any) -> None:
        super().__init__()
        self.cell = kind(8, 5, **({"batch_first": True} | given))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.cell(x)[0]


class MsLstm(nn.Cell):  # type: ignore[misc]
    def __init__(self, kind: Any = nn.LSTM, order: tuple[int, ...] | None = None, **given: Any) -> None:
        super().__init__()
        self.cell = kind(8, 5, **({"batch_first": True} | given))
        self.order = order

    def construct(self, x: Tensor) -> Tensor:
        return self.cell(x)[0]


class Reordered(nn.Cell):  # type: ignore[misc]
    """An LSTM by hand whose gates lie in the given order."""

    def __init__(self, order: tuple[int, int, int, int]) -> None:
        super().__init__()
        made = nn.LSTM(8, 5, batch_first=True)
        self.cell = made
        self.order = order

    def construct(self, x: Tensor) -> Tensor:
        names = {p.name.rpartition(".")[2]: p for p in self.cell.get_parameters()}
        w_ih, w_hh = names["weight_ih_l0"], names["weight_hh_l0"]
        bias = names["bias_ih_l0"] + names["bias_hh_l0"]
        h = c = ops.zeros((x.shape[0], 5), mindspore.float32)
        found = []
        for step in range(x.shape[1]):
            gates = ops.matmul(x[:, step], w_ih.T) + ops.matmul(h, w_hh.T) + bias
            parts = [gates[:, 5 * i : 5 * i + 5] for i in self.order]
            i, f, g, o = ops.sigmoid(parts[0]), ops.sigmoid(parts[1]), ops.tanh(parts[2]), ops.sigmoid(parts[3])
            c = f * c + i * g
            h = o * ops.tanh(c)
            found.append(h)
        return ops.stack(found, 1)


def resize(**given: Any) -> Callable[[], Any]:
    return lambda: Cell(lambda x: ops.interpolate(x, size=(14, 14), **given))


def tresize(**given: Any) -> Callable[[], Any]:
    return lambda: Module(lambda x: functional.interpolate(x, size=(14, 14), **given))


def attention(mask: bool, scale: float, module: Any) -> Any:
    """Over its own input, by torch's function or composed for MindSpore."""
    causal = np.tril(np.ones((6, 6), np.bool_)) if mask else np.ones((6, 6), np.bool_)

    def composed(x: Tensor) -> Tensor:
        scores = ops.matmul(x, ops.swapaxes(x, -1, -2)) * scale
        scores = ops.masked_fill(scores, Tensor(~causal), -1e9)
        return ops.matmul(ops.softmax(scores, -1), x)

    if module is torch:
        return lambda: Module(lambda x: functional.scaled_dot_product_attention(x, x, x, is_causal=mask))
    return lambda: Cell(composed)


class Halved(nn.Cell):  # type: ignore[misc]
    """Right in its forward pass, wrong by a factor behind."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.stop_gradient(x * 0.5) + 0.5 * x


WEIGHT = 1 / np.sqrt(8)
Case = tuple[str, str, str, Callable[[], Any], Callable[[], Any], Callable[[], Any], str | None, str]


class Turned(nn.Cell):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.weight = mindspore.Parameter(Tensor(np.zeros((12, 12), np.float32)), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(x, self.weight)
