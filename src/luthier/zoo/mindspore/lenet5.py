"""LeNet-5 as the course has it: convolutions without bias, and nothing between the dense layers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal

from mindspore import Tensor, nn

from luthier.errors import ModelError
from luthier.zoo.mindspore.activations import ACTIVATIONS
from luthier.zoo.mindspore.layers import MaxPool2d, batch_norm, conv, dense_layers
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


class Bypass(nn.Cell):
    """A convolution with a 1×1 shortcut around it, which sees the middle alone where the kernel eats the edges."""

    def __init__(self, main: nn.Cell, before: int, after: int, *, stride: int, edges: int) -> None:
        super().__init__()
        self.conv = main
        self.shortcut = conv(before, after, 1, stride=stride)
        self.low, self.high = edges // 2, edges - edges // 2

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The convolution's output plus the shortcut's."""
        height, width = x_BCHW.shape[2:]
        middle = x_BCHW[:, :, self.low : height - self.high, self.low : width - self.high]
        return self.conv(x_BCHW) + self.shortcut(middle)


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
) -> nn.Cell:
    """61,984 parameters on 32×32×3 and ten classes: conv, activation, pool, twice; then three dense layers."""
    channels = lenet5_channels(width, depth)
    edges = kernel - 1 if padding == "valid" else 0
    if padding == "same" and kernel % 2 == 0:
        raise ModelError(f"'same' padding needs an odd kernel, got {kernel}", at="model.options.kernel")
    sizes = lenet5_sizes(shape, len(channels), kernel, edges, pooling)
    stride = 2 if pooling == "stride" else 1
    layers: OrderedDict[str, nn.Cell] = OrderedDict()
    before = shape[2]
    for i, after in enumerate(channels, start=1):
        main = conv(before, after, kernel, stride=stride, padding=(kernel - 1 - edges) // 2)
        layers[f"conv{i}"] = Bypass(main, before, after, stride=stride, edges=edges) if bypass else main
        if normalisation == "batch":
            layers[f"norm{i}"] = batch_norm(after)
        layers[f"act{i}"] = ACTIVATIONS[activation]()
        if pooling != "stride":
            layers[f"pool{i}"] = MaxPool2d(2) if pooling == "max" else nn.AvgPool2d(2, 2)
        before = after
    layers["flatten"] = nn.Flatten()
    units = (before * sizes[0] * sizes[1], *dense, num_classes)
    return nn.SequentialCell(layers | dense_layers(units, dense_activation, dropout))
