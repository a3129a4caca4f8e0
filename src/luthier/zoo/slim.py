"""A small network for 32×32 images: three stages that halve the size, few operators, all of which fold and quantise."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from torch import Tensor, nn

from luthier.zoo.activations import ACTIVATIONS
from luthier.zoo.registry import network
from luthier.zoo.structure import Activation, Count, Factor, slim_channels

__all__ = ["Residual", "slim"]

Pooling = Literal["max", "avg"]


class Residual(nn.Module):
    """A 3×3 convolution and its normalisation, added to what comes in."""

    def __init__(self, channels: int, activation: Activation) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.act = ACTIVATIONS[activation]()

    def forward(self, x_BCHW: Tensor) -> Tensor:
        """The activation comes after the sum."""
        return self.act(x_BCHW + self.norm(self.conv(x_BCHW)))  # type: ignore[no-any-return]


@network
def slim(
    *,
    num_classes: int,
    shape: tuple[int, int, int],
    width: Factor | tuple[Count, ...] = 1.0,
    depth: Count = 2,
    activation: Activation = "relu",
    residual: bool = False,
    pooling: Pooling = "max",
    last_pooling: Pooling = "avg",
) -> nn.Sequential:
    """0.38 M parameters on 32×32×3 and ten classes; `width` from 0.5 to 2.3 gives 0.1 to 2 M.

    `width` multiplies the stages' channels (32, 80, 144) or lists them; `depth` counts a stage's convolutions;
    `residual` adds a shortcut around each of them but the first.
    """
    stages: OrderedDict[str, nn.Module] = OrderedDict()
    before = shape[2]
    for i, after in enumerate(slim_channels(width, shape), start=1):
        stages[f"stage{i}"] = _stage(before, after, depth, activation, pooling, residual=residual)
        before = after
    stages["pool"] = nn.AdaptiveAvgPool2d(1) if last_pooling == "avg" else nn.AdaptiveMaxPool2d(1)
    stages["flatten"] = nn.Flatten()
    stages["fc"] = nn.Linear(before, num_classes)
    return nn.Sequential(stages)


def _stage(
    before: int, after: int, depth: int, activation: Activation, pooling: Pooling, *, residual: bool
) -> nn.Sequential:
    """The normalisation stands right behind its convolution, where an exporter folds it into the weights."""
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    layers["conv1"] = nn.Conv2d(before, after, 3, padding=1, bias=False)
    layers["norm1"] = nn.BatchNorm2d(after)
    layers["pool"] = nn.MaxPool2d(2) if pooling == "max" else nn.AvgPool2d(2)
    layers["act1"] = ACTIVATIONS[activation]()
    for i in range(2, depth + 1):
        if residual:
            layers[f"block{i}"] = Residual(after, activation)
        else:
            layers[f"conv{i}"] = nn.Conv2d(after, after, 3, padding=1, bias=False)
            layers[f"norm{i}"] = nn.BatchNorm2d(after)
            layers[f"act{i}"] = ACTIVATIONS[activation]()
    return nn.Sequential(layers)
