"""A small network for 32×32 images: three stages that halve the size, few operators, all of which fold and quantise."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from mindspore import Tensor, nn

from luthier.zoo.mindspore.activations import ACTIVATIONS
from luthier.zoo.mindspore.layers import MaxPool2d, batch_norm, conv
from luthier.zoo.registry import network
from luthier.zoo.structure import Activation, Count, Factor, slim_channels

__all__ = ["Residual", "slim"]

Pooling = Literal["max", "avg"]


class Residual(nn.Cell):
    """A 3×3 convolution and its normalisation, added to what comes in."""

    def __init__(self, channels: int, activation: Activation) -> None:
        super().__init__()
        self.conv = conv(channels, channels, 3, padding=1)
        self.norm = batch_norm(channels)
        self.act = ACTIVATIONS[activation]()

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The activation comes after the sum."""
        return self.act(x_BCHW + self.norm(self.conv(x_BCHW)))


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
) -> nn.Cell:
    """0.38 M parameters on 32×32×3 and ten classes; `width` from 0.5 to 2.3 gives 0.1 to 2 M."""
    stages: OrderedDict[str, nn.Cell] = OrderedDict()
    before = shape[2]
    for i, after in enumerate(slim_channels(width, shape), start=1):
        stages[f"stage{i}"] = _stage(before, after, depth, activation, pooling, residual=residual)
        before = after
    stages["pool"] = nn.AdaptiveAvgPool2d(1) if last_pooling == "avg" else nn.AdaptiveMaxPool2d(1)
    stages["flatten"] = nn.Flatten()
    stages["fc"] = nn.Dense(before, num_classes)
    return nn.SequentialCell(stages)


def _stage(before: int, after: int, depth: int, activation: Activation, pooling: Pooling, *, residual: bool) -> nn.Cell:
    """The normalisation stands right behind its convolution, where an exporter folds it into the weights."""
    layers: OrderedDict[str, nn.Cell] = OrderedDict()
    layers["conv1"] = conv(before, after, 3, padding=1)
    layers["norm1"] = batch_norm(after)
    layers["pool"] = MaxPool2d(2) if pooling == "max" else nn.AvgPool2d(2, 2)
    layers["act1"] = ACTIVATIONS[activation]()
    for i in range(2, depth + 1):
        if residual:
            layers[f"block{i}"] = Residual(after, activation)
        else:
            layers[f"conv{i}"] = conv(after, after, 3, padding=1)
            layers[f"norm{i}"] = batch_norm(after)
            layers[f"act{i}"] = ACTIVATIONS[activation]()
    return nn.SequentialCell(layers)
