"""Faults in one layer: `entry` and `exit` around it are sound, so that the layer is to be told from its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore
import numpy as np
import torch
from mindspore import Tensor, nn, ops
from torch.nn import functional

from luthier.zoo.mindspore.activations import ACTIVATIONS
from tests.proof.planted.fault import Fault, between, chain

__all__ = ["LAYER_FAULTS", "LAYER_SOUND"]

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
IMAGES: list[Case] = [
    (
        "a convolution left at pad_mode='same'",
        "6.1",
        IMAGE,
        tconv(),
        conv(),
        conv(pad_mode="same"),
        "padding-mode",
        EVALUATION,
    ),
    (
        "an even padding where the total is odd",
        "6.1",
        IMAGE,
        tconv(stride=2, padding=1, size=4),
        conv(stride=2, padding=1, size=4),
        conv(stride=2, pad_mode="same", size=4),
        "padding-mode",
        EVALUATION,
    ),
    (
        "a convolution without its padding",
        "6.1",
        IMAGE,
        tconv(padding=1),
        conv(padding=1),
        conv(),
        "padding-mode",
        EVALUATION,
    ),
    (
        "padding on the other axis",
        "6.1",
        IMAGE,
        tconv(size=(1, 5), padding=(0, 2)),
        conv(size=(1, 5), padding=(0, 0, 2, 2)),
        conv(size=(1, 5), padding=(2, 2, 0, 0)),
        "padding-axes",
        EVALUATION,
    ),
    (
        "zeros where the reference reflects",
        "6.1",
        IMAGE,
        tconv(padding=1, padding_mode="reflect"),
        lambda: nn.SequentialCell(),
        conv(padding=1),
        "padding-value",
        EVALUATION,
    ),
    ("a stride left at 1", "6.1", IMAGE, tconv(stride=2), conv(stride=2), conv(), "stride", EVALUATION),
    (
        "a dilation left at 1",
        "6.1",
        IMAGE,
        tconv(dilation=2, padding=2),
        conv(dilation=2, padding=2),
        conv(padding=1),
        None,
        EVALUATION,
    ),
    (
        "a max-pool left at stride 1",
        "6.1",
        IMAGE,
        lambda: torch.nn.MaxPool2d(2),
        lambda: nn.MaxPool2d(2, 2),
        lambda: nn.MaxPool2d(2),
        "pool-stride",
        EVALUATION,
    ),
    (
        "a max-pool without its padding",
        "6.1",
        IMAGE,
        lambda: torch.nn.MaxPool2d(3, 2, 1),
        lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        lambda: nn.MaxPool2d(3, 2),
        "pool-padding",
        EVALUATION,
    ),
    (
        "zeros put around a max-pool by hand",
        "6.1",
        IMAGE,
        lambda: torch.nn.MaxPool2d(3, 2, 1),
        lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        lambda: Cell(lambda x: ops.max_pool2d(ops.pad(x, (1, 1, 1, 1)), 3, 2)),
        "pool-padding",
        EVALUATION,
    ),
    (
        "an average that counts the padding",
        "6.1",
        IMAGE,
        lambda: torch.nn.AvgPool2d(3, 2, 1, count_include_pad=False),
        lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, count_include_pad=False),
        lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1),
        "count-include-pad",
        EVALUATION,
    ),
    (
        "a size rounded down in place of up",
        "6.1",
        "3,4,10,10",
        lambda: torch.nn.MaxPool2d(3, 2, ceil_mode=True),
        lambda: nn.MaxPool2d(3, 2, pad_mode="pad", ceil_mode=True),
        lambda: nn.MaxPool2d(3, 2),
        "ceil-mode",
        EVALUATION,
    ),
    (
        "corners aligned",
        "6.1",
        IMAGE,
        tresize(mode="bilinear"),
        resize(mode="bilinear"),
        resize(mode="bilinear", align_corners=True),
        "align-corners",
        EVALUATION,
    ),
    (
        "a resize left at 'nearest'",
        "6.1",
        IMAGE,
        tresize(mode="bilinear"),
        resize(mode="bilinear"),
        resize(mode="nearest"),
        "resize-mode",
        EVALUATION,
    ),
    (
        "MindSpore's own bicubic",
        "6.1",
        IMAGE,
        tresize(mode="bicubic", align_corners=False),
        resize(mode="bilinear"),
        resize(mode="bicubic", align_corners=False),
        None,
        EVALUATION,
    ),
    (
        "1 − m forgotten",
        "6.2",
        IMAGE,
        norm(torch.nn.BatchNorm2d, 4),
        lambda: nn.BatchNorm2d(4, momentum=0.9),
        lambda: nn.BatchNorm2d(4, momentum=0.1),
        "momentum",
        TRAINING,
    ),
    (
        "another epsilon in a BatchNorm",
        "6.2",
        IMAGE,
        norm(torch.nn.BatchNorm2d, 4, eps=1e-3),
        lambda: nn.BatchNorm2d(4, eps=1e-3),
        lambda: nn.BatchNorm2d(4),
        "epsilon",
        EVALUATION,
    ),
    (
        "running statistics in training, too",
        "6.2",
        IMAGE,
        norm(torch.nn.BatchNorm2d, 4),
        lambda: nn.BatchNorm2d(4),
        lambda: nn.BatchNorm2d(4, use_batch_statistics=False),
        "statistics-in-use",
        TRAINING,
    ),
    (
        "the batch's statistics in evaluation, too",
        "6.2",
        IMAGE,
        norm(torch.nn.BatchNorm2d, 4),
        lambda: nn.BatchNorm2d(4),
        lambda: nn.BatchNorm2d(4, use_batch_statistics=True),
        "statistics-in-use",
        EVALUATION,
    ),
    (
        "other groups in a GroupNorm",
        "6.2",
        IMAGE,
        norm(torch.nn.GroupNorm, 2, 4),
        lambda: nn.GroupNorm(2, 4, eps=1e-5),
        lambda: nn.GroupNorm(4, 4, eps=1e-5),
        "groups",
        EVALUATION,
    ),
    (
        "alpha not divided in a local response norm",
        "6.2",
        IMAGE,
        lambda: torch.nn.LocalResponseNorm(3, alpha=0.5),
        lambda: Cell(lambda x: ops.lrn(x, 1, 1.0, 0.5 / 3, 0.75)),
        lambda: Cell(lambda x: ops.lrn(x, 1, 1.0, 0.5, 0.75)),
        "local-response",
        EVALUATION,
    ),
    (
        "flattened with the channels last",
        "6.2",
        IMAGE,
        lambda: torch.nn.Flatten(),
        lambda: nn.Flatten(),
        lambda: Cell(lambda x: ops.transpose(x, (0, 2, 3, 1)).reshape(x.shape[0], -1)),
        "layout",
        EVALUATION,
    ),
    (
        "softmax along another axis",
        "6.2",
        IMAGE,
        lambda: torch.nn.Softmax(dim=1),
        lambda: nn.Softmax(axis=1),
        lambda: nn.Softmax(),
        "softmax-axis",
        EVALUATION,
    ),
    (
        "a leaky ReLU left at 0.2",
        "6.2",
        IMAGE,
        lambda: torch.nn.LeakyReLU(),
        lambda: nn.LeakyReLU(alpha=0.01),
        lambda: nn.LeakyReLU(),
        "negative-slope",
        EVALUATION,
    ),
    (
        "a roll the other way",
        "6.3",
        IMAGE,
        lambda: Module(lambda x: torch.roll(x, 2, 3)),
        lambda: Cell(lambda x: ops.cat((x[..., -2:], x[..., :-2]), 3)),
        lambda: Cell(lambda x: ops.cat((x[..., 2:], x[..., :2]), 3)),
        "shift",
        EVALUATION,
    ),
    (
        "a deviation divided by n",
        "6.3",
        IMAGE,
        lambda: Module(lambda x: x.std(1, keepdim=True) + x),
        lambda: Cell(lambda x: ops.std(x, 1, 1, True) + x),
        lambda: Cell(lambda x: ops.std(x, 1, 0, True) + x),
        "ddof",
        EVALUATION,
    ),
    (
        "a variance divided by n",
        "6.3",
        IMAGE,
        lambda: Module(lambda x: torch.var(x, 1, keepdim=True) + x),
        lambda: Cell(lambda x: ops.var(x, 1, 1, True) + x),
        lambda: Cell(lambda x: ops.var(x, 1, 0, True) + x),
        "ddof",
        EVALUATION,
    ),
    (
        "a gradient cut in half",
        "6.9",
        IMAGE,
        lambda: torch.nn.Identity(),
        lambda: nn.Identity(),
        Halved,
        None,
        "gradients",
    ),
    (
        "a gradient cut by NumPy",
        "6.9",
        IMAGE,
        lambda: torch.nn.ReLU(),
        lambda: nn.ReLU(),
        lambda: Cell(lambda x: ops.stop_gradient(ops.relu(x))),
        None,
        "gradients",
    ),
    (
        "MindSpore's own SeLU, whose gradient is wrong",
        "6.2",
        IMAGE,
        lambda: torch.nn.SELU(),
        lambda: nn.SequentialCell(),
        lambda: nn.SeLU(),
        None,
        "gradients",
    ),
]
VECTORS: list[Case] = [
    (
        "a LayerNorm left at 1e-7",
        "6.2",
        ROWS,
        norm(torch.nn.LayerNorm, 12),
        lambda: nn.LayerNorm((12,), epsilon=1e-5),
        lambda: nn.LayerNorm((12,)),
        "epsilon",
        EVALUATION,
    ),
    (
        "GELU by tanh",
        "6.2",
        ROWS,
        lambda: torch.nn.GELU(),
        lambda: nn.GELU(approximate=False),
        lambda: nn.GELU(),
        "gelu-form",
        EVALUATION,
    ),
    (
        "exact GELU where the reference approximates",
        "6.2",
        ROWS,
        lambda: torch.nn.GELU(approximate="tanh"),
        lambda: nn.GELU(),
        lambda: nn.GELU(approximate=False),
        "gelu-form",
        EVALUATION,
    ),
    (
        "ReLU6 for ReLU",
        "6.2",
        ROWS,
        lambda: Module(lambda x: functional.relu(8 * x)),
        lambda: Cell(lambda x: ops.relu(8 * x)),
        lambda: Cell(lambda x: ops.relu6(8 * x)),
        "activation",
        EVALUATION,
    ),
    (
        "a dense layer by its transposed weight",
        "6.2",
        ROWS,
        lambda: torch.nn.Linear(12, 12, bias=False),
        lambda: nn.Dense(12, 12, has_bias=False),
        lambda: Turned(),
        "weight-layout",
        EVALUATION,
    ),
]
SEQUENCES: list[Case] = [
    (
        "an LSTM with ONNX's order of gates",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: Reordered((0, 2, 3, 1)),
        "gate-order",
        EVALUATION,
    ),
    (
        "an LSTM with Keras' order of gates",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: Reordered((0, 1, 3, 2)),
        "gate-order",
        EVALUATION,
    ),
    (
        "an LSTM that takes the batch for the time",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: MsLstm(batch_first=False),
        "batch-first",
        EVALUATION,
    ),
    (
        "attention without its scale",
        "6.2",
        SEQUENCE,
        attention(False, WEIGHT, torch),
        attention(False, WEIGHT, nn),
        attention(False, 1.0, nn),
        "attention-scale",
        EVALUATION,
    ),
    (
        "attention without its mask",
        "6.2",
        SEQUENCE,
        attention(True, WEIGHT, torch),
        attention(True, WEIGHT, nn),
        attention(False, WEIGHT, nn),
        "attention-mask",
        EVALUATION,
    ),
]


class Turned(nn.Cell):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.weight = mindspore.Parameter(Tensor(np.zeros((12, 12), np.float32)), name="weight")

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(x, self.weight)


def around(case: Case, layer: Callable[[], Any], module: Any) -> dict[str, Callable[[], Any]]:
    """The layer between two others."""
    shape = case[2]
    if module is torch:
        first: Callable[[], Any] = {
            IMAGE: lambda: torch.nn.Conv2d(4, 4, 1),
            "3,4,10,10": lambda: torch.nn.Conv2d(4, 4, 1),
            ROWS: lambda: torch.nn.Linear(12, 12),
            SEQUENCE: lambda: torch.nn.Linear(8, 8),
        }[shape]
        second: Callable[[], Any] = torch.nn.Tanh
    else:
        first = {
            IMAGE: lambda: nn.Conv2d(4, 4, 1, has_bias=True),
            "3,4,10,10": lambda: nn.Conv2d(4, 4, 1, has_bias=True),
            ROWS: lambda: nn.Dense(12, 12),
            SEQUENCE: lambda: nn.Dense(8, 8),
        }[shape]
        second = ACTIVATIONS["tanh"]
    scaled = (
        (Module(small) if module is torch else Cell(small)) if "epsilon" in case[0] or "LayerNorm" in case[0] else None
    )
    middle = {"small": lambda: scaled} if scaled is not None else {}
    return {"entry": first, **middle, "layer": layer, "exit": second}


CASES = [*IMAGES, *VECTORS, *SEQUENCES]
LAYER_FAULTS = [
    Fault(
        name=case[0],
        row=case[1],
        reference=chain(around(case, case[3], torch)),
        candidate=between(around(case, case[5], nn)),
        inputs=[case[2]],
        rung=case[7],
        layer="layer.cell" if "batch for the time" in case[0] else "layer",
        trap=case[6],
    )
    for case in CASES
]
LAYER_SOUND = [
    (case[0], chain(around(case, case[3], torch)), between(around(case, case[4], nn)), case[2])
    for case in CASES
    if "own" not in case[0] and "reflects" not in case[0]
]
