"""Operators that ONNX itself defines by others, written out where no rule has them."""

from __future__ import annotations

import onnx
from onnx import ModelProto

from luthier.port.registry import operators

__all__ = ["written_out"]

DEEP = 8  # functions of functions


def written_out(model: ModelProto) -> ModelProto:
    """Again and again, until every operator has a rule or no function."""
    from onnx.inliner import inline_selected_functions

    known = set(operators())
    opset = max((item.version for item in model.opset_import if item.domain in ("", "ai.onnx")), default=1)
    tried: set[str] = set()
    for _ in range(DEEP):
        names = {node.op_type for node in model.graph.node if node.domain in ("", "ai.onnx")}
        left = {name for name in names - tried if f"onnx.{name}" not in known and _has_function(name, opset)}
        if not left:
            return model
        tried |= left
        try:
            found = onnx.shape_inference.infer_shapes(model, data_prop=True)
            model = inline_selected_functions(
                found, [("", name) for name in sorted(left)], inline_schema_functions=True
            )
        except Exception:  # a function that onnx cannot write out here: its operator is refused by name
            continue
    return model


def _has_function(name: str, opset: int) -> bool:
    try:
        schema = onnx.defs.get_schema(name, opset, "")
    except onnx.defs.SchemaError:
        return False
    return bool(getattr(schema, "has_function", False) or getattr(schema, "has_context_dependent_function", False))
