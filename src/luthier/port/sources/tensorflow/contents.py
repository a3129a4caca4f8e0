"""What stands in a frozen graph or a SavedModel, as far as names go; no number of it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from luthier.errors import PortError
from luthier.port.sources.tensorflow.wire import fields, text

__all__ = ["SAVED", "Node", "Signature", "graph_of", "signatures_of"]

SAVED = "saved_model.pb"
VARIABLES = frozenset({"VarHandleOp", "Variable", "VariableV2"})


@dataclass(frozen=True, kw_only=True)
class Node:
    """One of a graph's; `inputs` are the nodes that it uses."""

    name: str
    operator: str
    inputs: tuple[str, ...]


@dataclass(kw_only=True)
class Signature:
    """What a SavedModel offers to be called: its arguments and results by name."""

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


def graph_of(path: Path) -> dict[str, Node]:
    """A frozen graph's nodes by name."""
    try:
        nodes = [_node(value) for number, value in fields(_read(path)) if number == 1 and not isinstance(value, int)]
    except ValueError:
        raise _broken(path) from None
    graph = {node.name: node for node in nodes if node.name and node.operator}
    if not graph or len(graph) != len(nodes):
        raise _broken(path)
    for node in nodes:
        _check(node, graph, path)
    return graph


def signatures_of(folder: Path) -> dict[str, Signature]:
    """A SavedModel's signatures by name; of several meta graphs, which differ by their tags, all of them."""
    path = folder / SAVED
    found: dict[str, Signature] = {}
    try:
        for number, value in fields(_read(path)):
            if number == 2 and not isinstance(value, int):
                found.update(_signatures(value))
    except ValueError:
        raise PortError(
            "The file cannot be read as a SavedModel: it is another format, or was cut short",
            at=str(path),
            hint="Save or copy the whole folder again.",
        ) from None
    return found


def _read(path: Path) -> memoryview:
    return memoryview(path.read_bytes())


def _broken(path: Path) -> PortError:
    return PortError(
        "The file cannot be read as a frozen graph: it is another format, or was cut short",
        at=str(path),
        hint="Write it again as a binary GraphDef; of a SavedModel name the folder instead.",
    )


def _check(node: Node, graph: dict[str, Node], path: Path) -> None:
    if node.operator in VARIABLES:
        raise PortError(
            f"The graph is not frozen: '{node.name}' is a variable, whose numbers are not in the file",
            at=str(path),
            hint="convert_variables_to_constants_v2 freezes a function; a SavedModel's folder needs no freezing.",
        )
    for name in node.inputs:
        if name not in graph:
            raise PortError(
                f"'{node.name}' uses '{name}', which is not in the graph",
                at=str(path),
                hint="The file was cut short: write or copy it again.",
            )


def _node(message: memoryview) -> Node:
    name, operator, inputs = "", "", []
    for number, value in fields(message):
        if number == 1:
            name = text(value)
        elif number == 2:
            operator = text(value)
        elif number == 3:
            inputs.append(text(value).removeprefix("^").partition(":")[0])
    return Node(name=name, operator=operator, inputs=tuple(inputs))


def _signatures(meta_graph: memoryview) -> dict[str, Signature]:
    found = {}
    for number, value in fields(meta_graph):
        if number == 5 and not isinstance(value, int):
            name, content = _entry(value)
            found[name] = _signature(content)
    return found


def _signature(message: memoryview) -> Signature:
    found = Signature()
    for number, value in fields(message):
        if number in (1, 2) and not isinstance(value, int):
            (found.inputs if number == 1 else found.outputs).append(_entry(value)[0])
    return found


def _entry(message: memoryview) -> tuple[str, memoryview]:
    """Of a map from names to messages."""
    name, content = "", memoryview(b"")
    for number, value in fields(message):
        if number == 1:
            name = text(value)
        elif number == 2 and not isinstance(value, int):
            content = value
    return name, content
