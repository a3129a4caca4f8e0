"""TensorFlow's names of nodes as paths of modules, in the form in which ONNX files have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import ModelProto, NodeProto

from luthier.port.sources.onnx.layers import STATELESS

__all__ = ["paths", "scoped"]

WRAPPER = re.compile(r"^((?:Stateful)?PartitionedCall(?:_\d+)?/)+")
MADE = re.compile(r"__\d+(_\w+)?$")  # what tf2onnx appends to the names of its own nodes
AGAIN = "_1"  # which Keras appends to every layer that it calls a second time, as an export does
WEIGHTED = frozenset({"BatchNormalization", "Conv", "ConvTranspose", "Gemm", "MatMul"})
SHAPING = frozenset(
    {
        *("Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "ReduceMax", "ReduceMean", "ReduceSum"),
        *("Reshape", "Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
CHOSEN = re.compile(r"[a-z]\w*$")  # a person's name; TensorFlow calls its nodes and scopes as its operators
OWN = frozenset({"add", "batchnorm", "convolution", "depthwise", "moments", "mul", "sub", "truediv"})
BIAS = "BiasAdd"
Scope = tuple[str, ...]


def scoped(path: Path) -> None:
    """Rename the nodes of a conversion."""
    model: ModelProto = onnx.load_model_from_string(path.read_bytes())
    nodes = list(model.graph.node)
    found = paths([(_named_after(node), node.op_type) for node in nodes])
    for i, (node, name) in enumerate(zip(nodes, found, strict=True)):
        node.name = f"{name}_{i}"
    path.write_bytes(model.SerializeToString())


def _named_after(node: NodeProto) -> str:
    """A layer that tf2onnx put together anew has no name of TensorFlow's, but its weights have."""
    if node.op_type in WEIGHTED and "/" not in node.name:
        return next((name for name in node.input[1:] if "/" in name), node.name)
    return node.name


def paths(nodes: Sequence[tuple[str, str]]) -> list[str]:
    """Each node's path, from its name and operator."""
    operators = [operator for _, operator in nodes]
    split = [WRAPPER.sub("", name).split("/") for name, _ in nodes]
    lasts = [MADE.sub("", parts[-1]) for parts in split]
    scopes = _shortened([tuple(part for part in parts[:-1] if part and _is_chosen(part)) for parts in split])
    scopes = _lifted(_named(scopes, lasts, operators), lasts, operators)
    return [
        "/".join(["", *scope, operator]) if scope else operator
        for scope, operator in zip(scopes, operators, strict=True)
    ]


def _is_chosen(part: str) -> bool:
    return bool(CHOSEN.match(part)) and part not in OWN


def _shortened(scopes: Sequence[Scope]) -> list[Scope]:
    """Without the whole network's own name, and without a suffix that every layer has."""
    some = [scope for scope in scopes if scope]
    if len({scope[0] for scope in some}) == 1 and any(len(scope) > 1 for scope in some):
        scopes = [scope[1:] for scope in scopes]
        some = [scope for scope in scopes if scope]
    if some and all(scope[0].endswith(AGAIN) for scope in some):
        scopes = [(scope[0].removesuffix(AGAIN), *scope[1:]) if scope else scope for scope in scopes]
    return list(scopes)


def _named(scopes: Sequence[Scope], lasts: Sequence[str], operators: Sequence[str]) -> list[Scope]:
    """A layer that a person named is a module of its own, unless it is all that its scope has."""
    counts = Counter(scopes)
    return [
        (*scope, last)
        if _is_chosen(last) and operator in WEIGHTED | STATELESS and (not scope or counts[scope] > 1)
        else scope
        for scope, last, operator in zip(scopes, lasts, operators, strict=True)
    ]


def _lifted(scopes: Sequence[Scope], lasts: Sequence[str], operators: Sequence[str]) -> list[Scope]:
    """What stands beside the only layer of a scope goes behind it, so that the layer can be the module."""
    counts = Counter(scopes)
    layers = Counter(scope for scope, operator in zip(scopes, operators, strict=True) if operator in WEIGHTED)
    plain = set(scopes) - {
        scope[:i]
        for scope, operator in zip(scopes, operators, strict=True)
        if operator in WEIGHTED | STATELESS or (operator not in SHAPING and counts[scope] > 1)
        for i in range(len(scope) + 1)
    }
    found = []
    for scope, last, operator in zip(scopes, lasts, operators, strict=True):
        beside = layers[scope] == 1 and operator not in WEIGHTED and last != BIAS
        found.append(scope[:-1] if beside or scope in plain or operator == "Transpose" else scope)
    return found
