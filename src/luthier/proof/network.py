"""What a proof asks of either side: layers, arrays, passes, gradients and steps, as NumPy arrays by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from luthier.proof.verdict import Place

__all__ = [
    "Array",
    "Arrays",
    "Call",
    "Candidate",
    "Graded",
    "Layer",
    "LayerRun",
    "Network",
    "ParameterFact",
    "Reference",
    "Stepper",
    "Trace",
    "floating",
    "leaves_of",
    "mapped",
]

Array = NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A module by its path; `settings` are its plain attributes."""

    path: str
    kind: str
    place: Place | None
    settings: Mapping[str, Any]
    is_dropout: bool = False


@dataclass(frozen=True, kw_only=True)
class ParameterFact:
    """A parameter or buffer by its own side's name; `owner` is the layer that holds it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    owner: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a layer: its inputs as they were given, nested, and its outputs, flat."""

    path: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: tuple[Array, ...]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A pass: the calls in the order in which they ended, the outputs, and what statistics it left."""

    calls: tuple[Call, ...]
    outputs: tuple[Array, ...]
    statistics: Arrays

    def by_path(self) -> dict[str, list[Call]]:
        """Each layer's calls; a layer that is used twice has two."""
        found: dict[str, list[Call]] = {}
        for call in self.calls:
            found.setdefault(call.path, []).append(call)
        return found


@dataclass(frozen=True, kw_only=True)
class LayerRun:
    """One layer alone on given inputs: outputs, gradients of its inputs and parameters, and its statistics after."""

    outputs: tuple[Array, ...]
    input_gradients: tuple[Array | None, ...] = ()
    gradients: Arrays = field(default_factory=dict)
    statistics: Arrays = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A training pass: the loss, every parameter's gradient, and the statistics it left."""

    loss: float
    gradients: Arrays
    statistics: Arrays
    more_than_a_loss: bool = False  # the user's loss gave further outputs, whose gradients are summed


class Stepper(Protocol):
    """An optimizer over a network's parameters, fed with gradients from wherever."""

    def learning_rate(self) -> float | None:
        """The next step's, where it can be read."""

    def apply(self, gradients: Mapping[str, Array]) -> None:
        """Change the weights once."""

    def arrays(self) -> Arrays:
        """The trainable parameters as they are now."""


class Network(Protocol):
    """Either side. Names are the side's own; whatever a pass changes is put back unless it is to be kept."""

    framework: str
    name: str
    trains: bool
    notes: list[str]

    def layers(self) -> Sequence[Layer]:
        """In the order of construction, the whole network first with the path ''."""

    def parameters(self) -> Sequence[ParameterFact]:
        """Every parameter and buffer."""

    def arrays(self) -> Arrays:
        """Copies of their values."""

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Take values, all of them or some."""

    def outputs(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """In evaluation."""

    def dropped(self, path: str, *, training: bool) -> float:
        """The share of ones that a dropout layer sets to zero."""

    def loss(self, outputs: Sequence[Array], labels: Array | None, trainer: Any) -> float:
        """Of given outputs."""

    def stepper(self, optimizer: Any) -> Stepper:
        """Of a recipe's optimizer, or of the user's own; it works on the network itself."""


class Candidate(Network, Protocol):
    """The side that is to be proven."""

    def trace(self, inputs: Sequence[Array], *, training: bool) -> Trace:
        """Run freely, and keep every layer's outputs."""

    def layer(
        self, path: str, call: Call, *, training: bool, cotangents: Sequence[Array | None] | None = None
    ) -> LayerRun:
        """Run one layer on the reference's inputs."""

    def graded(self, inputs: Sequence[Array], labels: Array | None, trainer: Any, *, keep: bool = False) -> Graded:
        """One training pass."""


class Reference(Network, Protocol):
    """The side that is right: it also runs in float64, and with its roundings made `disturb` times as great."""

    def largest_index(self) -> int:
        """Below it every whole number is an index that any embedding has."""

    unit: float  # half of the distance from 1 to the next number of its dtype

    def trace(
        self, inputs: Sequence[Array], *, training: bool, exact: bool = False, disturb: float = 0.0, seed: int = 0
    ) -> Trace:
        """Run freely, and keep every layer's inputs and outputs."""

    def layer(
        self,
        path: str,
        call: Call,
        *,
        training: bool,
        exact: bool = False,
        disturb: float = 0.0,
        cotangents: Sequence[Array | None] | None = None,
        variant: Any = None,
    ) -> LayerRun:
        """Run one layer on given inputs, or a variant of it into which somebody's trap is built."""

    def loss(self, outputs: Sequence[Array], labels: Array | None, trainer: Any, *, exact: bool = False) -> float:
        """Of given outputs."""

    def stepper(self, optimizer: Any, *, exact: bool = False) -> Stepper:
        """On the network itself, or on a copy in float64."""

    def graded(
        self,
        inputs: Sequence[Array],
        labels: Array | None,
        trainer: Any,
        *,
        exact: bool = False,
        disturb: float = 0.0,
        seed: int = 0,
        keep: bool = False,
    ) -> Graded:
        """One training pass."""


def leaves_of(value: Any) -> list[Any]:
    """What is in nested tuples, lists and mappings, in order; what is none of them is itself."""
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in leaves_of(item)]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves_of(item)]
    return [value]


def mapped(value: Any, change: Any) -> Any:
    """The same nesting with `change` applied to every leaf."""
    if isinstance(value, Mapping):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, change) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(mapped(item, change) for item in value)
    return change(value)


def floating(value: Any) -> bool:
    """Whether it is an array that can have a gradient."""
    return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating)
