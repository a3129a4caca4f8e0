"""A Cell's first weights: the same numbers as the PyTorch zoo's, to the bit, from the same seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from math import prod

import numpy as np
from mindspore import Parameter, Tensor, nn
from mindspore.nn.layer.conv import _Conv
from numpy.typing import NDArray

from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.strategy import initializers

__all__ = ["TorchDefault", "draw_again", "initialize"]


class TorchDefault:
    """PyTorch's default for convolutions and dense layers, U(−1/√fan in, 1/√fan in), as its CPU generator draws it.

    Its `uniform_` takes 24 bits of a Mersenne Twister's word and rounds once, after the product and the sum.
    """

    def __init__(self, seed: int) -> None:
        self._words = np.random.RandomState(seed)

    def weight(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """As `kaiming_uniform_(a=√5)` has it, whose bound differs from 1/√fan in by its rounding."""
        return self._uniform(shape, math.sqrt(3.0) * (math.sqrt(2.0 / 6.0) / math.sqrt(prod(shape[1:]))))

    def bias(self, shape: tuple[int, ...], fan_in: int) -> NDArray[np.float32]:
        """The bound is the layer's, not the bias's own."""
        return self._uniform(shape, 1.0 / math.sqrt(fan_in))

    def _uniform(self, shape: tuple[int, ...], bound: float) -> NDArray[np.float32]:
        words = self._words.randint(0, 2**32, size=prod(shape), dtype=np.uint32)
        share = (words & np.uint32(2**24 - 1)) * 2.0**-24
        low, high = np.float32(-bound), np.float32(bound)
        return (share * np.float64(high - low) + np.float64(low)).astype(np.float32).reshape(shape)


def initialize(cell: nn.Cell, model: Model, seed: int) -> None:
    """Draw a shipped network's weights: PyTorch's default first, in the network's order, then what the recipe names."""
    source = TorchDefault(seed)
    for layer in layers(cell):
        shape = tuple(layer.weight.shape)
        layer.weight.set_data(Tensor(source.weight(shape)))
        if _bias(layer) is not None:
            layer.bias.set_data(Tensor(source.bias(tuple(layer.bias.shape), prod(shape[1:]))))
    draw_again(cell, model, np.random.default_rng(seed))


def draw_again(cell: nn.Cell, model: Model, generator: np.random.Generator) -> None:
    """Draw what the recipe's initialisers name, and set its biases to zero; `default` leaves a layer as it is."""
    dense = model.init_dense or model.init
    chosen = [(layer, dense if isinstance(layer, nn.Dense) else model.init) for layer in layers(cell)]
    drawn = [(layer, name) for layer, name in chosen if name != "default"]
    if not drawn and {model.init, dense} != {"default"}:
        raise ModelError(f"{model.name} has no convolution or dense layer to initialise", at="model.init")
    for layer, name in drawn:
        layer.weight.set_data(Tensor(initializers.draw(name, tuple(layer.weight.shape), generator)))
        if _bias(layer) is not None:
            layer.bias.set_data(Tensor(np.zeros(tuple(layer.bias.shape), np.float32)))


def layers(cell: nn.Cell) -> Iterator[nn.Cell]:
    """The convolutions and dense layers in the order in which the network names them."""
    return (layer for _, layer in cell.cells_and_names() if isinstance(layer, nn.Dense | _Conv))


def _bias(layer: nn.Cell) -> Parameter | None:
    bias = getattr(layer, "bias", None)
    return bias if isinstance(bias, Parameter) else None
