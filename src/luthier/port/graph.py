"""One hierarchical graph for every source: scopes with the source's classes and names, and the steps inside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from luthier.port.findings import Outcome

__all__ = ["Enter", "Module", "Network", "Scope", "Size", "Statement", "Step", "Tensor", "Value"]


@dataclass(frozen=True, kw_only=True)
class Size:
    """A length that is not known before the network runs; `text` is its formula, equal where two are the same."""

    text: str
    example: int

    def __str__(self) -> str:
        return "?"


@dataclass(eq=False, kw_only=True)
class Value:
    """What a step gives: its shape has a `Size` where the source leaves it open."""

    name: str
    shape: tuple[int | Size, ...]
    dtype: str

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.shape)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The line of the source that a step comes from, and the names to which it gives its results."""

    file: str
    line: int
    targets: tuple[str, ...] = ()

    @property
    def at(self) -> str:
        """As a compiler names a place."""
        return f"{self.file}:{self.line}"


@dataclass(eq=False, kw_only=True)
class Step:
    """One operator; `arguments` are bound by name, with the source's defaults filled in.

    Values of other steps stand in them as they are, whole or inside tuples.
    """

    operator: str
    arguments: Mapping[str, Any]
    outputs: tuple[Value, ...]
    several: bool = False
    statement: Statement | None = None
    path: str = ""
    refusal: Exception | None = None  # why the source could not be read here


@dataclass(eq=False, kw_only=True)
class Enter:
    """A module is called."""

    scope: Scope
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    statement: Statement | None = None


@dataclass(eq=False, kw_only=True)
class Scope:
    """One call of a module: what goes in, what is done, what comes out."""

    module: Module
    steps: list[Step | Enter] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    arguments: list[tuple[str, Value]] = field(default_factory=list)  # what the source hands over, by name, in order
    result: Any = None  # how the outputs are put together, where it is not one value or a tuple of them

    def calls(self) -> Iterator[Enter]:
        """Every call below this scope, outermost first."""
        for step in self.steps:
            if isinstance(step, Enter):
                yield step
                yield from step.scope.calls()


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A parameter, a buffer or a constant: its name in the source, and what it is."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    label: str = ""  # what a constant that no module holds is called


@dataclass(eq=False, kw_only=True)
class Module:
    """One module of the source, called or not.

    `kinds` are the names under which a rule may know it, the most special first; `arguments` binds each kind's
    constructor arguments. `hints` are numbers that the source knows by name, in the order of its constructor.
    """

    path: str
    class_name: str
    kinds: tuple[str, ...] = ()
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    normalises: tuple[str, Mapping[str, Any]] | None = None  # as which layer's function, in a forward pass of its own
    children: dict[str, Module] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()  # the names of the forward pass's arguments
    hints: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()  # those of the hints that the constructor was given
    identity: Any = None  # equal for two modules of the same class
    defined_at: str = ""  # its class
    built_at: str = ""  # the line of its owner that makes it
    document: str = ""
    container: str = ""  # sequential, list or dict, where it is nothing else

    def find(self, path: str) -> Module:
        """The module below this one."""
        module = self
        for part in path.split(".") if path else ():
            module = module.children[part]
        return module

    def walk(self) -> Iterator[Module]:
        """This module and all below, in the source's order."""
        yield self
        for child in self.children.values():
            yield from child.walk()


@dataclass(eq=False, kw_only=True)
class Network:
    """A source that was read: its modules, what its forward pass does, and its tensors by name."""

    module: Module
    scope: Scope
    state: Mapping[str, Tensor]  # every array that a checkpoint of the source's has, and constants besides
    constants: Mapping[Value, Tensor]  # which values of the graph are tensors of the source
    arrays: Callable[[str], NDArray[Any]]
    parts: tuple[Scope, ...] = ()  # modules whose calls could not be read: each was read on its own
    loose: tuple[str, ...] = ()  # arrays that are in no checkpoint
    ties: tuple[tuple[str, str], ...] = ()  # a second name of a tensor, and its first
    notes: tuple[tuple[str, str], ...] = ()  # a module's path, and what it does in training alone
    remarks: tuple[tuple[str, str], ...] = ()  # what else is worth knowing, by its name
    features: tuple[tuple[str, Outcome, str], ...] = ()  # what is no operator, how it goes over, and what is told of it
    sources: Mapping[str, str] = field(default_factory=dict)  # the source's own name of a tensor, where it is another
    optional: frozenset[str] = frozenset()  # tensors that are written where the code needs them
