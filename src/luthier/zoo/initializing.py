"""A network's first weights, drawn outside the framework so that another one can draw the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.strategy import initializers

if TYPE_CHECKING:
    from torch import nn
    from torch.nn.modules.conv import _ConvNd

__all__ = ["initialize"]


def initialize(module: nn.Module, model: Model, generator: np.random.Generator) -> None:
    """Draw the weights of convolutions and dense layers in the network's order, and set their biases to zero.

    `default` leaves a layer as it was built. Normalisations are never touched: a block that begins at zero stays so.
    """
    import torch

    with torch.no_grad():
        for layer, name in _layers(module, model):
            layer.weight.copy_(torch.from_numpy(initializers.draw(name, tuple(layer.weight.shape), generator)))
            if layer.bias is not None:
                layer.bias.zero_()


def _layers(module: nn.Module, model: Model) -> list[tuple[nn.Linear | _ConvNd, str]]:
    """The layers to draw, each with its initialiser."""
    from torch import nn
    from torch.nn.modules.conv import _ConvNd

    dense = model.init_dense or model.init
    found = [layer for layer in module.modules() if isinstance(layer, nn.Linear | _ConvNd)]
    chosen: list[tuple[nn.Linear | _ConvNd, str]]
    chosen = [(layer, dense if isinstance(layer, nn.Linear) else model.init) for layer in found]
    drawn = [(layer, name) for layer, name in chosen if name != "default"]
    if not drawn and {model.init, dense} != {"default"}:
        raise ModelError(f"{model.name} has no convolution or dense layer to initialise", at="model.init")
    return drawn
