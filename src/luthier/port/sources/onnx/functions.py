"""Operators that ONNX itself defines by others, written out where no rule has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import ModelProto

from luthier.port.registry import operators

__all__ = ["written_out"]

DEEP = 8  # functions of functions
OWN = "luthier.functions"
Names = set[tuple[str, str]]


def written_out(model: ModelProto) -> ModelProto:
    """Again and again, until every operator has a rule or no function."""
    from onnx.inliner import inline_selected_functions

    known = set(operators())
    opsets = {_domain(item.domain): item.version for item in model.opset_import}
    tried: Names = set()
    for _ in range(DEEP):
        names = {(_domain(node.domain), node.op_type) for node in model.graph.node}
        left = {
            (domain, name)
            for domain, name in names - tried
            if f"{domain or 'onnx'}.{name}" not in known and _has_function(name, opsets.get(domain, 1), domain)
        }
        if not left:
            return model
        tried |= left
        found = onnx.shape_inference.infer_shapes(_with_defaults(model, left, opsets), data_prop=True)
        try:
            model = inline_selected_functions(found, sorted(left), inline_schema_functions=True)
        except RuntimeError:  # an input that is left out: the inliner wants to know its type
            model = _by_hand(found, left, opsets)
    return model


def _by_hand(model: ModelProto, names: Names, opsets: Mapping[str, int]) -> ModelProto:
    """Every node's own function, as one of the model's; what cannot be written out is refused by its name."""
    from onnx.inliner import inline_local_functions

    graph = model.graph
    types = {item.name: item.type for item in (*graph.value_info, *graph.input, *graph.output)}
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    for number, node in enumerate(graph.node):
        domain = _domain(node.domain)
        if (domain, node.op_type) not in names:
            continue
        schema: Any = onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
        given = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
        try:
            body = onnx.FunctionProto.FromString(schema.get_context_dependent_function(node.SerializeToString(), given))
        except Exception:  # whatever a schema's function cannot do with this node
            continue
        body.domain, body.name = OWN, f"{node.op_type}{number}"
        model.functions.append(body)
        if not any(item.domain == OWN for item in model.opset_import):
            model.opset_import.add(domain=OWN, version=1)
        node.domain, node.op_type = OWN, body.name
        del node.attribute[:]
    return inline_local_functions(model) if model.functions else model


def _domain(name: str) -> str:
    """ONNX's own has two names."""
    return "" if name == "ai.onnx" else name


def _with_defaults(model: ModelProto, names: Names, opsets: Mapping[str, int]) -> ModelProto:
    """A function's body takes every attribute from its node."""
    for node in model.graph.node:
        domain = _domain(node.domain)
        if (domain, node.op_type) in names:
            given = {item.name for item in node.attribute}
            schema = onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
            defaults = [item.default_value for name, item in schema.attributes.items() if name not in given]
            node.attribute.extend(item for item in defaults if item is not None and item.type)
    return model


def _has_function(name: str, opset: int, domain: str) -> bool:
    try:
        schema = onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:
        return False
    return bool(getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False))
