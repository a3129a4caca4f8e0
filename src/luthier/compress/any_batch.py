"""From a graph for so many images to one for any number of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

__all__ = ["for_any_batch"]


def for_any_batch(model: ModelProto, count: int) -> None:
    """Free what the graph has of `count`; whether that was right, running it tells."""
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    shapes = {node.input[1] for node in model.graph.node if node.op_type == "Reshape"}
    for constant in _constants(model):
        if constant.name in shapes:
            _free(constant, count)


def _constants(model: ModelProto) -> list[TensorProto]:
    """Initializers, and the values of Constant nodes under their outputs' names."""
    found = list(model.graph.initializer)
    for node in model.graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                attribute.t.name = node.output[0]
                found.append(attribute.t)
    return found


def _free(constant: TensorProto, count: int) -> None:
    """A shape's first number follows from the others, or where one of these does already, from the input's first."""
    from onnx.numpy_helper import from_array, to_array

    shape = to_array(constant).copy()
    if shape.ndim == 1 and shape.size and shape[0] == count:
        shape[0] = 0 if -1 in shape else -1
        constant.CopyFrom(from_array(shape, constant.name))
