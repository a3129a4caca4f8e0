"""In which modules a node stands, by what its exporter wrote down: its name's path, or its metadata."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from luthier.port.known import Known
from luthier.port.sources.onnx.flat import Node
from luthier.port.sources.onnx.layers import STATELESS
from luthier.port.sources.onnx.repeated import fold

__all__ = ["place"]

SCOPES, CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"
AGAIN = re.compile(r"_\d+$")


def place(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Give every node its module or its scopes; what is known of modules' classes comes back."""
    classes: dict[str, str] = {}
    for node in nodes:
        node.scopes = _scopes(node, classes)
    if not any(node.scopes for node in nodes):
        fold(nodes)
    alone = Counter(node.scopes[-1] for node in nodes if node.scopes)
    outer = {path for node in nodes for path in node.scopes[:-1]}
    for node in nodes:
        own = node.scopes[-1] if node.scopes else ""
        operator = node.operator.removeprefix("onnx.")
        if own and alone[own] == 1 and own not in outer and (node.kind or operator in STATELESS):
            node.module, node.scopes = own, node.scopes[:-1]
            if not node.kind:
                node.kind, node.settings = f"onnx.nn.{operator}", dict(node.arguments)
    _merge(nodes)
    _name_the_rest(nodes)
    return classes


def _scopes(node: Node, classes: dict[str, str]) -> tuple[str, ...]:
    if SCOPES in node.metadata:
        return _by_metadata(node.metadata, classes)
    if not node.name.startswith("/"):
        return ()
    found: list[str] = []
    before = ""
    for part in node.name.split("/")[1:-1]:
        head, _, last = part.rpartition(".")
        inside = bool(head) and last.isdigit() and (before == head or head.endswith(f".{before}"))
        path = f"{found[-1]}.{last}" if inside and found else ".".join([*found[-1:], part])
        found.append(identified(path))
        before = part
    return tuple(found)


def _by_metadata(metadata: Mapping[str, str], classes: dict[str, str]) -> tuple[str, ...]:
    """The whole path of every module around the node; the last entry is the operator itself."""
    try:
        names, kinds = (ast.literal_eval(metadata.get(key, "[]")) for key in (SCOPES, CLASSES))
    except (SyntaxError, ValueError):
        return ()
    if not all(isinstance(item, str) for item in (*names, *kinds)):
        return ()
    found = [identified(name) for name in names[1:-1] if name]
    for path, kind in zip(names[:-1], kinds, strict=False):
        classes.setdefault(identified(path), kind.rpartition(".")[2])
    return tuple(dict.fromkeys(found))


def identified(path: str) -> str:
    """As names of Python's."""
    parts = [re.sub(r"\W", "_", part) for part in path.split(".")]
    return ".".join(part if part.isidentifier() or part.isdigit() else f"_{part}" for part in parts)


def _merge(nodes: Sequence[Node]) -> None:
    """`relu_1` is `relu`, called again."""
    first = {node.module: node for node in nodes if node.module}
    for node in nodes:
        short = AGAIN.sub("", node.module)
        if node.module and short != node.module and short in first and not node.tensors:
            other = first[short]
            if other.kind == node.kind and _plain(other) == _plain(node):
                node.module = short


def _plain(node: Node) -> dict[str, object]:
    return {name: value for name, value in node.settings.items() if not isinstance(value, Known)}


def _name_the_rest(nodes: Sequence[Node]) -> None:
    """A layer without a module of its own is called by its weight's name, or by what it is."""
    taken = {node.module for node in nodes} | {path for node in nodes for path in node.scopes}
    waiting = [node for node in nodes if node.kind and not node.module]
    counts = Counter((_scope(node), _name(node)) for node in waiting)
    for node in waiting:
        scope, name = _scope(node), _name(node)
        lead = f"{scope}." if scope else ""
        is_only = counts[scope, name] == 1 and f"{lead}{name}" not in taken
        numbered = (f"{name}{i}" for i in range(1, len(taken) + 2))
        node.module = next(f"{lead}{one}" for one in ((name,) if is_only else numbered) if f"{lead}{one}" not in taken)
        taken.add(node.module)


def _scope(node: Node) -> str:
    return node.scopes[-1] if node.scopes else ""


def _name(node: Node) -> str:
    return _from_weight(node, _scope(node)) or NAMES.get(node.operator.removeprefix("onnx."), "layer")


NAMES = {
    "BatchNormalization": "bn",
    "Conv": "conv",
    "ConvTranspose": "deconv",
    "Dropout": "dropout",
    "GRU": "gru",
    "Gather": "embedding",
    "Gemm": "fc",
    "GroupNormalization": "norm",
    "InstanceNormalization": "norm",
    "LSTM": "lstm",
    "LayerNormalization": "norm",
    "MatMul": "fc",
    "RNN": "rnn",
}
ENDS = re.compile(r"[._](weight|bias|kernel|gamma|beta)$")


def _from_weight(node: Node, scope: str) -> str:
    """`out_proj`, if the weight is called `….out_proj.weight` and lies in this scope."""
    for value in node.tensors.values():
        name = identified(value.name)
        if ENDS.search(value.name) and name.startswith(f"{scope}." if scope else "") and "/" not in value.name:
            inner = ENDS.sub("", name)[len(scope) :].lstrip(".")
            if inner and inner.isidentifier():
                return inner
    return ""
