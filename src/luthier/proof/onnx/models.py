"""The file's own model, as it is run: in evaluation, cut to what is asked for, in float64, disturbed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto

__all__ = ["cut", "disturbed", "evaluated", "precise", "run_by_reference", "run_by_runtime"]

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
Array = NDArray[Any]


def evaluated(model: ModelProto) -> ModelProto:
    """Normalisations take their moving statistics, and nothing is dropped."""
    for node in model.graph.node:
        if node.op_type == "BatchNormalization":
            for attribute in node.attribute:
                if attribute.name == "training_mode":
                    attribute.i = 0
            del node.output[1:]
        elif node.op_type == "Dropout" and len(node.input) > 2:
            del node.input[2:]
    return model


def cut(model: ModelProto, outputs: Sequence[str], inputs: Sequence[str] = ()) -> ModelProto:
    """The nodes that lead to the outputs; values among `inputs` are given from outside."""
    given = set(inputs)
    makers = {name: node for node in model.graph.node for name in node.output if name}
    needed: dict[int, NodeProto] = {}
    waiting = [name for name in outputs if name not in given]
    while waiting:
        node = makers.get(waiting.pop())
        if node is None or id(node) in needed:
            continue
        needed[id(node)] = node
        waiting += [name for name in _reads(node) if name and name not in given]
    found = ModelProto()
    found.CopyFrom(ModelProto(ir_version=model.ir_version, producer_name=model.producer_name))
    found.opset_import.extend(model.opset_import)
    found.functions.extend(model.functions)
    graph = found.graph
    graph.name = "part"
    graph.node.extend(node for node in model.graph.node if id(node) in needed)
    used = {name for node in graph.node for name in _reads(node)} | set(outputs)
    graph.initializer.extend(item for item in model.graph.initializer if item.name in used and item.name not in given)
    held = {item.name for item in graph.initializer}
    graph.input.extend(item for item in model.graph.input if item.name in used - given - held)
    graph.input.extend(onnx.ValueInfoProto(name=name) for name in inputs if name in used)
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(outputs))
    return found


def _reads(node: NodeProto) -> list[str]:
    """With what the graphs inside it take from around them."""
    found = list(node.input)
    for attribute in node.attribute:
        for graph in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
            found += [name for inner in graph.node for name in _reads(inner)]
    return found


def typed_inputs(model: ModelProto, arrays: Mapping[str, Array]) -> ModelProto:
    """Inputs without a type get that of their arrays."""
    for item in model.graph.input:
        if item.name in arrays:
            array = arrays[item.name]
            code = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            item.CopyFrom(onnx.helper.make_tensor_value_info(item.name, code, [None] * array.ndim))
    return model


def precise(model: ModelProto) -> ModelProto:
    """Every float32 of the model in float64."""
    found = ModelProto()
    found.CopyFrom(model)
    del found.graph.value_info[:]
    for tensor in found.graph.initializer:
        _double(tensor)
    for node in found.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                _double(attribute.t)
            elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                values = np.array(list(attribute.floats) or attribute.f, np.float64)
                attribute.CopyFrom(onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(values)))
            elif attribute.name in ("to", "dtype") and attribute.i == FLOAT:
                attribute.i = DOUBLE
    for item in found.graph.input:
        if item.type.tensor_type.elem_type == FLOAT:
            item.type.tensor_type.elem_type = DOUBLE
    return found


def _double(tensor: TensorProto) -> None:
    if tensor.data_type == FLOAT:
        array = onnx.numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))


def disturbed(model: ModelProto, share: float, seed: int) -> ModelProto:
    """Every weight off by so much of itself."""
    found = ModelProto()
    found.CopyFrom(model)
    draw = np.random.default_rng([seed, 7])
    for tensor in found.graph.initializer:
        if tensor.data_type in (FLOAT, DOUBLE):
            array = onnx.numpy_helper.to_array(tensor)
            moved = array * (1.0 + share * draw.standard_normal(array.shape))
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.asarray(moved, array.dtype), tensor.name))
    return found


def run_by_runtime(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """By ONNX Runtime, every node as the file has it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        typed_inputs(model, inputs).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = {item.name for item in session.get_inputs()}
    return list(session.run(None, {name: array for name, array in inputs.items() if name in names}))


def run_by_reference(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """By ONNX's own reference, which takes any precision."""
    from onnx.reference import ReferenceEvaluator

    from luthier.proof.onnx.fast import FAST

    evaluator = ReferenceEvaluator(typed_inputs(model, inputs), new_ops=list(FAST))
    names = set(evaluator.input_names)
    with np.errstate(all="ignore"):
        found = evaluator.run(None, {name: array for name, array in inputs.items() if name in names})
    return [np.asarray(item) for item in found]
