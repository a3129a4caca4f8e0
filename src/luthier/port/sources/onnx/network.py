"""From a file to the hierarchical graph that the rules work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from luthier.port.connecting import connect, givers
from luthier.port.graph import Network, Tensor, Value
from luthier.port.known import Known
from luthier.port.manifest import Input
from luthier.port.sources.onnx.dropped import dropped
from luthier.port.sources.onnx.flat import Flat, flat
from luthier.port.sources.onnx.layers import settle
from luthier.port.sources.onnx.lines import broken
from luthier.port.sources.onnx.loading import Loaded, load
from luthier.port.sources.onnx.modules import Tree, camel, contained
from luthier.port.sources.onnx.nesting import Nested, nested
from luthier.port.sources.onnx.ordering import ordered
from luthier.port.sources.onnx.patterns import together
from luthier.port.sources.onnx.scopes import identified, place

__all__ = ["Read", "read_onnx"]


@dataclass(kw_only=True)
class Read:
    """The graph, and the inputs as the file names them."""

    network: Network
    inputs: tuple[str, ...]


def read_onnx(path: Path, asked: Sequence[Input] = (), outputs: Sequence[str] = ()) -> Read:
    """Read a file; `asked` fixes its inputs' shapes, `outputs` are the values at which it is cut."""
    loaded = load(path)
    known = flat(loaded, asked, outputs)
    nodes = together(known.nodes, known.outputs)
    for node in nodes:
        settle(node)
    classes = place(nodes)
    tree = Tree(camel(identified(path.stem.replace("-", "_"))), classes)
    found = nested(ordered(nodes), tree, path.name)
    _joined(found, known)
    gaps = contained(tree, found.scope)
    broken(found.scope, set(found.constants))
    tree.root.parameters = tuple(identified(value.name) for value in known.inputs)
    return Read(
        network=_network(loaded, tree, found, known, gaps),
        inputs=tuple(value.name for value in known.inputs),
    )


def _joined(found: Nested, known: Flat) -> None:
    """What goes into each call and comes out of it."""
    found.scope.inputs = list(known.inputs)
    found.scope.outputs = list(known.outputs)
    constants = set(found.constants)
    connect(found.scope, constants, set(known.outputs), givers(found.scope.inputs))
    found.scope.arguments = [(identified(value.name), value) for value in known.inputs]
    for value in known.outputs:
        if isinstance(value, Known) and value.content is not None and value not in found.constants:
            _as_constant(value, found)


def _as_constant(value: Known, found: Nested) -> None:
    """An output that depends on no input."""
    assert value.content is not None
    name = f"{value.name}@"
    shape = tuple(int(length) for length in value.content.shape)
    tensor = Tensor(name=name, shape=shape, dtype=value.dtype, trainable=False, label=identified(value.name))
    found.constants[value] = found.state[name] = tensor
    found.arrays[name] = value.content
    found.optional.add(name)


def _network(loaded: Loaded, tree: Tree, found: Nested, known: Flat, gaps: list[tuple[str, str]]) -> Network:
    state = dict(found.state)
    arrays = dict(found.arrays)
    used = set(found.sources.values()) | known.consumed
    for name, value in known.initialisers.items():
        if name not in used and value.content is not None and value.dtype.startswith("float"):
            state[name] = Tensor(name=name, shape=value.content.shape, dtype=value.dtype, trainable=False)
            arrays[name] = value.content
    constants: dict[Value, Tensor] = dict(found.constants)
    return Network(
        module=tree.root,
        scope=found.scope,
        state=state,
        constants=constants,
        arrays=lambda name: arrays[name],
        loose=tuple(name for name in state if name not in found.sources and name not in known.initialisers),
        ties=tuple(found.ties),
        remarks=(*dropped(loaded, gaps),),
        sources=found.sources,
        optional=frozenset(found.optional),
    )
