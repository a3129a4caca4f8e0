"""What a rule takes and gives: a call of the source with its arguments bound, an expression of MindSpore's."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from luthier.errors import PortError
from luthier.port.graph import Value
from luthier.weights import Transform

__all__ = ["Call", "Emit", "Name", "Unsupported", "attribute", "index", "infix", "method", "pairs", "sequence"]


class Unsupported(PortError):
    """An operator that cannot be carried over; the rest of the network is."""


class Name(str):
    """Text that stands in the code as it is: a variable, a type."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Call:
    """One operator or module of the source; `call["stride"]` is its argument, the source's default where none is given.

    A tensor among the arguments is a `Value`, or None.
    """

    operator: str
    arguments: Mapping[str, Any]
    at: str = ""
    outputs: tuple[Value, ...] = ()

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@dataclass(eq=True, init=False)
class Emit:
    """An expression: `nn.…` is a Cell, `ops.…` a function, and the other forms come from the functions below.

    Arguments that equal MindSpore's defaults may be given: they are not written. `weights` has the source's name of
    each parameter whose name differs; `note` becomes a comment, and says where a meaning was adapted; `composed` says
    that no single operator of MindSpore's does it; `helpers` are functions of `port.helpers` that it calls.
    """

    target: str
    args: tuple[Any, ...]
    keywords: dict[str, Any]
    weights: Mapping[str, str]
    transforms: Mapping[str, Transform]
    note: str
    composed: bool
    helpers: tuple[str, ...]

    def __init__(
        self,
        target: str,
        *args: Any,
        weights: Mapping[str, str] | None = None,
        transforms: Mapping[str, Transform] | None = None,
        note: str = "",
        composed: bool = False,
        helpers: tuple[str, ...] = (),
        **keywords: Any,
    ) -> None:
        self.target = target
        self.args = args
        self.keywords = keywords
        self.weights = weights or {}
        self.transforms = transforms or {}
        self.note = note
        self.composed = composed
        self.helpers = helpers

    def with_parts(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Emit:
        """The same expression of other parts."""
        made = copy(self)
        made.args, made.keywords = args, keywords
        return made


def infix(operator: str, left: Any, right: Any, *, composed: bool = False, note: str = "") -> Emit:
    """`left + right`."""
    return Emit(f"infix {operator}", left, right, composed=composed, note=note)


def method(value: Any, name: str, *args: Any, **keywords: Any) -> Emit:
    """`value.name(…)`."""
    return Emit(f".{name}", value, *args, **keywords)


def attribute(value: Any, name: str) -> Emit:
    """`value.name`."""
    return Emit("attribute", value, Name(name))


def index(value: Any, *keys: Any) -> Emit:
    """`value[…]`; a slice is a `slice`, and `...` is itself."""
    return Emit("index", value, *keys)


def pairs(kind: str, items: Mapping[str, Any]) -> Emit:
    """A dictionary of expressions, of the given kind."""
    return Emit(kind, *(Emit("pair", name, item) for name, item in items.items()))


def sequence(*items: Any) -> Emit:
    """A tuple of expressions."""
    return Emit("tuple", *items)
