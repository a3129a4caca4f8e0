"""Nodes in the calls of their modules, and every constant by the name that its module gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from luthier.port.graph import Enter, Scope, Statement, Step, Tensor, Value
from luthier.port.known import Known
from luthier.port.sources.onnx.flat import Node
from luthier.port.sources.onnx.modules import Tree
from luthier.port.sources.onnx.scopes import identified

__all__ = ["Nested", "NodeAt", "nested"]

WORD = "constant"


@dataclass(frozen=True, kw_only=True)
class NodeAt(Statement):
    """A place in a file without lines."""

    node: str = field(default="", compare=False)

    @property
    def at(self) -> str:
        """By the node's name."""
        return f"{self.file}, node {self.node}"


@dataclass(kw_only=True)
class Nested:
    """The graph's root, and every array that it needs, by name."""

    scope: Scope
    state: dict[str, Tensor] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    constants: dict[Value, Tensor] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    ties: list[tuple[str, str]] = field(default_factory=list)
    optional: set[str] = field(default_factory=set)
    first: dict[str, str] = field(default_factory=dict)  # the source's name, and ours where it was first used
    own: dict[str, Known] = field(default_factory=dict)


def nested(nodes: Sequence[Node], tree: Tree, file: str) -> Nested:
    """Open and close calls as the nodes' modules say; the order is such that no call is entered twice."""
    found = Nested(scope=Scope(module=tree.root))
    opened: list[Scope] = [found.scope]
    for node in nodes:
        same = 0
        while same < min(len(node.scopes), len(opened) - 1) and opened[same + 1].module.path == node.scopes[same]:
            same += 1
        del opened[same + 1 :]
        at = NodeAt(file=file, line=node.number, node=node.name or f"{node.number} ({node.operator})")
        for path in node.scopes[same:]:
            inner = Scope(module=tree.module(path))
            opened[-1].steps.append(Enter(scope=inner, statement=at))
            opened.append(inner)
        if node.module:
            inner = Scope(module=tree.module(node.module))
            _layer(node, tree, found, at.at)
            opened[-1].steps.append(Enter(scope=inner, statement=at))
            inner.steps.append(_step(node, inner.module.path, found, at))
        else:
            opened[-1].steps.append(_step(node, opened[-1].module.path, found, at))
    return found


def _layer(node: Node, tree: Tree, found: Nested, at: str) -> None:
    """Its tensors are its own; an array that another layer has, too, is tied to that one."""
    tensors = {}
    if not tree.module(node.module).kinds:
        for leaf, value in node.tensors.items():
            name = f"{node.module}.{leaf}"
            tensor = Tensor(name=leaf, shape=_plain(value), dtype=value.dtype, trainable=leaf not in STATISTICS)
            tensors[leaf] = tensor
            _keep(found, name, replace(tensor, name=name), value)
            found.constants[replace_value(node, leaf, value)] = replace(tensor, name=name)
    settings = {name: value for name, value in node.settings.items() if not isinstance(value, Known)}
    tree.layer(node.module, node.kind, settings, tensors, at)


STATISTICS = ("moving_mean", "moving_variance")


def replace_value(node: Node, leaf: str, value: Known) -> Known:
    """A layer's own object for its tensor, since another layer may have the same array."""
    own = Known(
        name=f"{node.module}.{leaf}",
        shape=value.shape,
        dtype=value.dtype,
        content=value.content,
        is_initialiser=value.is_initialiser,
        is_parameter=True,
    )
    node.tensors[leaf] = own

    def put(item: Any) -> Any:
        if item is value:
            return own
        return tuple(put(one) for one in item) if isinstance(item, tuple) else item

    node.arguments = {name: put(item) for name, item in node.arguments.items()}
    return own


def _keep(found: Nested, name: str, tensor: Tensor, value: Known) -> None:
    assert value.content is not None
    found.state[name] = tensor
    found.arrays[name] = value.content
    if value.is_initialiser:
        if value.name in found.first:
            found.ties.append((name, found.first[value.name]))
        found.first.setdefault(value.name, name)
        found.sources[name] = value.name
    else:
        found.optional.add(name)


def _plain(value: Known) -> tuple[int, ...]:
    return tuple(int(length) for length in value.shape if isinstance(length, int))


def _step(node: Node, path: str, found: Nested, at: Statement) -> Step:
    """With the constants that it uses under names of this module's."""

    def put(item: Any) -> Any:
        if isinstance(item, tuple):
            return tuple(put(one) for one in item)
        if isinstance(item, Known) and item.content is not None and item not in found.constants:
            return _constant(item, path, found)
        return item

    arguments = {name: put(item) for name, item in node.arguments.items()}
    return Step(
        operator=node.operator,
        arguments=arguments,
        outputs=node.outputs,
        several=len(node.outputs) > 1,
        statement=at,
        path=path,
    )


def _constant(value: Known, path: str, found: Nested) -> Known:
    """One object for each module that uses it."""
    leaf = identified(value.name.rpartition("/")[2]).rpartition(".")[2].strip("_") or WORD
    if not value.is_initialiser or leaf.isdigit() or "::" in value.name:
        leaf = WORD
    name = f"{path}.{value.name}@" if path else f"{value.name}@"
    if name in found.own:
        return found.own[name]
    tensor = Tensor(
        name=name,
        shape=_plain(value),
        dtype=value.dtype,
        trainable=value.is_initialiser and value.dtype.startswith("float") and value.rank > 0,
        label=leaf if leaf.isidentifier() else WORD,
    )
    own = Known(
        name=value.name,
        shape=value.shape,
        dtype=value.dtype,
        content=value.content,
        is_initialiser=value.is_initialiser,
    )
    found.constants[own], found.own[name] = tensor, own
    _keep(found, name, tensor, value)
    found.optional.add(name)
    return own
