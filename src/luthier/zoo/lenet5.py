"""LeNet-5 as the course has it: convolutions without bias, and nothing between the dense layers."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import Literal

from torch import Tensor, nn

from luthier.errors import ModelError
from luthier.zoo.activations import ACTIVATIONS
from luthier.zoo.registry import network
from luthier.zoo.structure import (
    Activation,
    ActivationOrNone,
    Count,
    Factor,
    Pooling,
    Share,
    lenet5_channels,
    lenet5_sizes,
)

__all__ = ["Bypass", "lenet5"]


class Bypass(nn.Module):
    """A convolution with a 1×1 shortcut around it, which sees the middle alone where the kernel eats the edges."""

    def __init__(self, conv: nn.Conv2d, edges: int) -> None:
        super().__init__()
        self.conv = conv
        self.shortcut = nn.Conv2d(conv.in_channels, conv.out_channels, 1, stride=conv.stride[0], bias=False)
        self.low, self.high = edges // 2, edges - edges // 2

    def forward(self, x_BCHW: Tensor) -> Tensor:
        """The convolution's output plus the shortcut's."""
        height, width = x_BCHW.shape[2:]
        middle = x_BCHW[:, :, self.low : height - self.high, self.low : width - self.high]
        out: Tensor = self.conv(x_BCHW) + self.shortcut(middle)
        return out


@network
def lenet5(
    *,
    num_classes: int,
    shape: tuple[int, int, int],
    width: Factor | tuple[Count, ...] = 1.0,
    depth: Count | None = None,
    kernel: Count = 5,
    padding: Literal["valid", "same"] = "valid",
    dense: tuple[Count, ...] = (120, 84),
    activation: Activation = "relu",
    dense_activation: ActivationOrNone = "none",
    normalisation: Literal["none", "batch"] = "none",
    pooling: Pooling = "max",
    dropout: Share = 0.0,
    bypass: bool = False,
) -> nn.Sequential:
    """61,984 parameters on 32×32×3 and ten classes: conv, activation, pool, twice; then three dense layers.

    `width` multiplies the channels (6, 16, 32, …) or lists them; `depth` counts the convolutions, two where `width`
    lists none; `pooling = "stride"` halves in the convolution; dropout stands before every dense layer.
    """
    channels = lenet5_channels(width, depth)
    edges = kernel - 1 if padding == "valid" else 0
    if padding == "same" and kernel % 2 == 0:
        raise ModelError(f"'same' padding needs an odd kernel, got {kernel}", at="model.options.kernel")
    sizes = lenet5_sizes(shape, len(channels), kernel, edges, pooling)
    stride = 2 if pooling == "stride" else 1
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    before = shape[2]
    for i, after in enumerate(channels, start=1):
        conv = nn.Conv2d(before, after, kernel, stride=stride, padding=(kernel - 1 - edges) // 2, bias=False)
        layers[f"conv{i}"] = Bypass(conv, edges) if bypass else conv
        if normalisation == "batch":
            layers[f"norm{i}"] = nn.BatchNorm2d(after)
        layers[f"act{i}"] = ACTIVATIONS[activation]()
        if pooling != "stride":
            layers[f"pool{i}"] = nn.MaxPool2d(2) if pooling == "max" else nn.AvgPool2d(2)
        before = after
    layers["flatten"] = nn.Flatten()
    units = (before * sizes[0] * sizes[1], *dense, num_classes)
    return nn.Sequential(layers | _dense(units, dense_activation, dropout))


def _dense(units: tuple[int, ...], activation: ActivationOrNone, dropout: float) -> OrderedDict[str, nn.Module]:
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for i, (before, after) in enumerate(pairwise(units), start=1):
        if i > 1 and activation != "none":
            layers[f"fc_act{i - 1}"] = ACTIVATIONS[activation]()
        if dropout:
            layers[f"dropout{i}"] = nn.Dropout(dropout)
        layers[f"fc{i}"] = nn.Linear(before, after)
    return layers
