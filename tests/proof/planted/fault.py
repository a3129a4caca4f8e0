"""A fault: both sides, where it lies, and the trap that must be named."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Fault", "Sound", "between", "chain"]


@dataclass(frozen=True, kw_only=True)
class Sound:
    """A port in which nothing is wrong."""

    name: str
    reference: Callable[[], Any]
    candidate: Callable[[], Any]
    inputs: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """`row` is the part of the table of differences; `rung` and `layer` must be named, and `trap` where it is known."""

    name: str
    row: str
    reference: Callable[[], Any]
    candidate: Callable[[], Any]
    inputs: Sequence[Any]
    rung: str
    layer: str
    trap: str | None
    options: Mapping[str, Any] = field(default_factory=dict)


Layers = Mapping[str, Callable[[], Any]]


def chain(layers: Layers) -> Callable[[], Any]:
    """A PyTorch network of layers one after the other."""

    def made() -> Any:
        from torch import nn

        return nn.Sequential(OrderedDict((name, make()) for name, make in layers.items()))

    return made


def between(layers: Layers) -> Callable[[], Any]:
    """The same in MindSpore."""

    def made() -> Any:
        from mindspore import nn

        return nn.SequentialCell(OrderedDict((name, make()) for name, make in layers.items()))

    return made
