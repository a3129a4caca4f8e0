"""A Cell's parameters under the names that a state has: PyTorch's for a shipped network, a user's own as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.nn.layer.normalization import _BatchNorm, _InstanceNorm
from numpy.typing import NDArray

from luthier.strategy import ParameterInfo
from luthier.weights import Entry, WeightMap, match, pytorch_shapes

__all__ = ["Named", "parameter_infos", "put"]

NORMS = (_BatchNorm, _InstanceNorm, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)


class Named:
    """Gives and takes arrays by the state's names, in the state's layouts."""

    def __init__(self, cell: nn.Cell, *, shipped: bool, without: Iterable[Parameter] = ()) -> None:
        left_out = {id(parameter) for parameter in without}
        self.cell = cell
        self._own: dict[str, Parameter] = {p.name: p for p in cell.get_parameters() if id(p) not in left_out}
        shapes = {name: tuple(parameter.shape) for name, parameter in self._own.items()}
        self.map = match(pytorch_shapes(shapes), shapes) if shipped else _as_they_are(shapes)
        self.names = self.map.inverted_names()
        self.counters = {item.source: np.zeros(item.shape, item.dtype) for item in self.map.dropped}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all, counters included, in the state's order."""
        found = self.to_state({name: parameter.asnumpy() for name, parameter in self._own.items()})
        return {name: np.array(self.counters.get(name, array)) for name, array in found.items()}

    def to_state(self, arrays: Mapping[str, NDArray[Any]], *, linear: bool = False) -> dict[str, NDArray[Any]]:
        """What the Cell's names have, by the state's; `linear` for gradients and moments, of which some may be none."""
        found = self.map.to_source(arrays, linear=linear, partial=linear)
        return found if linear else {name: found[name] for name in self._order(found)}

    def to_cell(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Gradients or moments by the state's names, by the Cell's."""
        return self.map.to_target(arrays, linear=True, partial=True)

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take all, which were found to match."""
        for name, array in self.map.to_target(arrays).items():
            put(self._own[name], array)
        for name in self.counters:
            self.counters[name] = np.array(arrays[name], np.int64)

    def count(self) -> None:
        """A training pass went through every BatchNorm."""
        for name in self.counters:
            self.counters[name] = self.counters[name] + 1

    def trainable(self) -> list[Parameter]:
        """In the network's order."""
        known = {name: place for place, name in enumerate(self.map.names())}
        kept = [parameter for parameter in self._own.values() if parameter.requires_grad]
        return sorted(kept, key=lambda parameter: known[self.names[parameter.name]])

    def buffers_and_parameters(self) -> list[Parameter]:
        """Everything that an average follows, in an order that another Cell of the same network shares."""
        return list(self._own.values())

    def _order(self, found: Mapping[str, Any]) -> list[str]:
        return [name for name in self._sources() if name in found]

    def _sources(self) -> list[str]:
        if not self.counters:
            return list(self.map.names())
        return list(pytorch_shapes({name: tuple(parameter.shape) for name, parameter in self._own.items()}))


def put(parameter: Parameter, array: NDArray[Any]) -> None:
    """In place: what a graph uses under a condition alone, it never sees again after `set_data`.

    Its dtype stays the network's; a number stays one, which `ascontiguousarray` would make a row of.
    """
    ops.assign(parameter, Tensor(np.asarray(array, order="C"), parameter.dtype))


def _as_they_are(shapes: Mapping[str, tuple[int, ...]]) -> WeightMap:
    return WeightMap(entries=tuple(Entry(source=name, target=name) for name in shapes))


def parameter_infos(named: Named) -> tuple[ParameterInfo, ...]:
    """The trainable parameters in the network's order."""
    layers = (layer for _, layer in named.cell.cells_and_names() if isinstance(layer, NORMS))
    norms = {id(parameter) for layer in layers for parameter in layer.get_parameters(expand=False)}
    trainable = named.trainable()
    shapes = named.to_state({p.name: np.empty(tuple(p.shape), np.bool_) for p in trainable}, linear=True)
    return tuple(
        ParameterInfo(
            name=(name := named.names[parameter.name]),
            shape=tuple(shapes[name].shape),
            kind="norm" if id(parameter) in norms else "bias" if name.endswith("bias") else "weight",
            bytes_each=parameter.itemsize,
        )
        for parameter in trainable
    )
