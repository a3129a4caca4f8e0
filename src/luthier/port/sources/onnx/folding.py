"""Nodes whose inputs are all constants: computed once, by ONNX's own reference, while the file is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto

__all__ = ["folded"]

DRAWN = {
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Dropout",
}
GROWS = {"ConstantOfShape", "Expand", "Tile", "Range", "EyeLike", "OneHot"}
MOST = 1 << 24  # numbers that a constant may be computed to


def folded(node: NodeProto, opset: int, inputs: Sequence[NDArray[Any] | None] | None) -> list[NDArray[Any]] | None:
    """What it gives; none where it is not a constant, or would be a very great one."""
    if inputs is None or node.op_type in DRAWN or not (node.input or node.op_type == "Range"):
        return None
    if any(item.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for item in node.attribute):
        return None
    if node.op_type in GROWS and _greatest(node.op_type, inputs) > MOST:
        return None
    names = [name for name in node.input if name]
    arrays = [array for array in inputs if array is not None]
    if any(array.dtype.kind not in "biufc" for array in arrays):
        return None
    graph = onnx.helper.make_graph(
        [node],
        "constant",
        [
            onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in dict(zip(names, arrays, strict=True)).items()
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])
    from onnx.reference import ReferenceEvaluator

    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))
    except Exception:  # an operator that the reference does not have, or that the model uses wrongly
        return None
    made = (
        [np.asarray(item) for item in found] if all(isinstance(item, np.ndarray | np.generic) for item in found) else []
    )
    return made if made and all(item.dtype.kind in "biufc" for item in made) else None


def _greatest(operator: str, inputs: Sequence[NDArray[Any] | None]) -> int:
    """How many numbers it would give, at most."""
    first, *rest = (np.asarray([] if item is None else item) for item in inputs)
    shape = first if operator == "ConstantOfShape" else rest[0] if rest else first
    if operator == "Range":
        limit, delta = float(rest[0]), float(rest[1]) or 1.0
        return int(abs((limit - float(first)) / delta)) + 1
    size = 1
    for length in shape.reshape(-1)[:16].tolist():
        size *= max(int(length), 1)
    return size * (max(first.size, 1) if operator == "Tile" else 1)
