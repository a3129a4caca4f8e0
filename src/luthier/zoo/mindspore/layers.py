"""The layers that the networks share, with every default that differs from PyTorch's written out."""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise

from mindspore import Tensor, get_context, nn, ops

from luthier.zoo.mindspore.activations import ACTIVATIONS
from luthier.zoo.structure import ActivationOrNone

__all__ = ["MaxPool2d", "batch_norm", "conv", "dense_layers"]

LOWEST = -3.4e38  # of float32, and beyond float16


def conv(before: int, after: int, kernel: int, *, stride: int = 1, padding: int = 0) -> nn.Cell:
    """A convolution without bias; MindSpore pads to the same size and PyTorch not at all where nothing is said."""
    return nn.Conv2d(before, after, kernel, stride=stride, pad_mode="pad", padding=padding, has_bias=False)


def batch_norm(channels: int) -> nn.Cell:
    """MindSpore's momentum weighs the old statistic, PyTorch's the new one; both keep the unbiased variance."""
    return nn.BatchNorm2d(channels, eps=1e-5, momentum=0.9)


class MaxPool2d(nn.Cell):
    """A max-pooling that does not pool a second time for its gradient, and chooses among equals as PyTorch does.

    On a CPU MindSpore's own takes 2.3 ms there and back on (32, 6, 28, 28), the adaptive one 0.7, the padded one 1.4
    (MindSpore 2.10.0, AMD EPYC, least of 250). Evaluation uses its own, whose forward alone is the quickest, behind a
    padding of its own: with its padded one MindSpore cannot load the MindIR that it wrote for any number of images.
    """

    def __init__(
        self, kernel_size: int, *, stride: int | None = None, padding: int = 0, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        step = kernel_size if stride is None else stride
        plain = padding == 0 and not ceil_mode
        on_cpu = get_context("device_target") == "CPU"
        self.kernel_size, self.ceil_mode = kernel_size, ceil_mode
        self.tiles = on_cpu and step == kernel_size and padding == 0
        self.padded = nn.MaxPool2d(kernel_size, step, pad_mode="pad", padding=padding, ceil_mode=ceil_mode)
        self.own = self.padded if ceil_mode else nn.MaxPool2d(kernel_size, step, pad_mode="valid")
        self.margins = () if ceil_mode else (padding,) * 4 if padding else ()
        self.trained = self.own if plain and not on_cpu else self.padded

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The greatest of each window."""
        if not self.training:
            return self.own(ops.pad(x_BCHW, self.margins, value=LOWEST) if self.margins else x_BCHW)
        height, width = x_BCHW.shape[2] // self.kernel_size, x_BCHW.shape[3] // self.kernel_size
        whole = x_BCHW.shape[2:] == (height * self.kernel_size, width * self.kernel_size)
        if self.tiles and (whole or not self.ceil_mode):
            inner = x_BCHW if whole else x_BCHW[:, :, : height * self.kernel_size, : width * self.kernel_size]
            return ops.adaptive_max_pool2d(inner, (height, width))
        return self.trained(x_BCHW)


def dense_layers(units: tuple[int, ...], activation: ActivationOrNone, dropout: float) -> OrderedDict[str, nn.Cell]:
    """Dense layers with their activations between them and a dropout before each, by name."""
    layers: OrderedDict[str, nn.Cell] = OrderedDict()
    for i, (before, after) in enumerate(pairwise(units), start=1):
        if i > 1 and activation != "none":
            layers[f"fc_act{i - 1}"] = ACTIVATIONS[activation]()
        if dropout:
            layers[f"dropout{i}"] = nn.Dropout(p=dropout)
        layers[f"fc{i}"] = nn.Dense(before, after)
    return layers
