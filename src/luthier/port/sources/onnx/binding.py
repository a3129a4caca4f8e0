"""A node's inputs and attributes by the names that its own revision of the schema gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto
from onnx.defs import OpSchema

__all__ = ["attribute", "attributes", "dtype_name", "is_default_domain", "operator_name", "schema_of"]

DOMAINS = ("", "ai.onnx")


def is_default_domain(domain: str) -> bool:
    """Whether it is ONNX's own."""
    return domain in DOMAINS


def schema_of(node: NodeProto, opset: int) -> OpSchema | None:
    """The revision that the model's opset means; none for an operator that ONNX does not have."""
    if not is_default_domain(node.domain):
        return None
    try:
        return onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return None


def operator_name(node: NodeProto) -> str:
    """As the rules know it."""
    return f"{'onnx' if is_default_domain(node.domain) else node.domain}.{node.op_type}"


def dtype_name(code: int) -> str:
    """As MindSpore has it, too, where MindSpore has it."""
    if code == onnx.TensorProto.STRING:
        return "string"
    try:
        name = str(onnx.helper.tensor_dtype_to_np_dtype(code).name)
    except (KeyError, TypeError):
        return "unknown"
    return {"bool": "bool_"}.get(name, name)


def attributes(node: NodeProto, schema: OpSchema | None) -> dict[str, Any]:
    """Every attribute of the schema: the node's, or its default, or None."""
    found: dict[str, Any] = {}
    for name, item in (schema.attributes if schema else {}).items():
        default = item.default_value
        found[name] = attribute(default) if default is not None and default.type else None
    return found | {item.name: attribute(item) for item in node.attribute}


def attribute(item: AttributeProto) -> Any:
    """Numbers as Python has them; a float is the shortest that means the same 32 bits."""
    kinds = AttributeProto
    match item.type:
        case kinds.FLOAT:
            return shortest(item.f)
        case kinds.FLOATS:
            return tuple(shortest(value) for value in item.floats)
        case kinds.INT:
            return int(item.i)
        case kinds.INTS:
            return tuple(int(value) for value in item.ints)
        case kinds.STRING:
            return item.s.decode("utf-8", "replace")
        case kinds.STRINGS:
            return tuple(value.decode("utf-8", "replace") for value in item.strings)
        case kinds.TENSOR:
            return tensor(item.t)
    return kinds.AttributeType.Name(item.type).lower()  # a graph or another thing that no rule takes


def tensor(given: onnx.TensorProto) -> NDArray[Any]:
    """One that stands in the node itself."""
    return onnx.numpy_helper.to_array(given)


def shortest(value: float) -> float:
    """0.1 rather than 0.10000000149011612."""
    return float(str(np.float32(value)))


def plain(found: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes that a stub can show."""
    return {name: value for name, value in found.items() if not isinstance(value, np.ndarray)}
