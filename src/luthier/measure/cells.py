"""How many parameters each layer of a Cell has, and how many bytes they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from luthier.measure.parameters import Layer, Sizes

if TYPE_CHECKING:
    from mindspore import Parameter, nn

__all__ = ["cell_sizes", "parameters_by_cell"]

STATISTICS = ("moving_mean", "moving_variance")  # parameters in MindSpore, buffers in PyTorch


def parameters_by_cell(cell: nn.Cell, own: Sequence[Parameter]) -> tuple[Layer, ...]:
    """In the network's order; `own` are the parameters that count, a shared one where it is first."""
    left = {id(parameter) for parameter in own if not _is_statistic(parameter)}
    layers = []
    for name, layer in cell.cells_and_names():
        found = {key: value for key, value in layer._params.items() if id(value) in left}
        left -= {id(value) for value in found.values()}
        if found:
            trainable = sum(int(value.size) for value in found.values() if value.requires_grad)
            layers.append(
                Layer(
                    name=name,
                    kind=type(layer).__name__,
                    shapes={key: tuple(value.shape) for key, value in found.items()},
                    trainable=trainable,
                    frozen=sum(int(value.size) for value in found.values()) - trainable,
                )
            )
    return tuple(layers)


def cell_sizes(own: Sequence[Parameter]) -> Sizes:
    """Stored bytes by dtype; moving statistics are what PyTorch calls buffers."""
    weights = [parameter for parameter in own if not _is_statistic(parameter)]
    return Sizes(
        trainable=_bytes(value for value in weights if value.requires_grad),
        frozen=_bytes(value for value in weights if not value.requires_grad),
        buffers=_bytes(value for value in own if _is_statistic(value)),
    )


def _is_statistic(parameter: Parameter) -> bool:
    return str(parameter.name).endswith(STATISTICS)


def _bytes(parameters: Iterable[Parameter]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for parameter in parameters:
        counted[str(parameter.dtype).lower()] += int(np.prod(parameter.shape, dtype=np.int64)) * parameter.itemsize
    return dict(counted)
