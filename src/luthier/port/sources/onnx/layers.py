"""Which nodes are layers: those whose weights the file holds, and those that stand alone in a module of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from luthier.port.known import Known
from luthier.port.padding import padding
from luthier.port.sources.onnx.flat import Node
from luthier.port.sources.onnx.recurrent import recurrent

__all__ = ["STATELESS", "settle"]

STATELESS = frozenset(
    {
        *("AveragePool", "Elu", "Flatten", "Gelu", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid"),
        *("HardSwish", "LeakyRelu", "LogSoftmax", "MaxPool", "Mish", "Relu", "Relu6", "Selu", "Sigmoid", "Silu"),
        *("Softmax", "Softplus", "Softsign", "Tanh"),
    }
)
Layer = tuple[dict[str, Known | None], dict[str, Any]]


def settle(node: Node) -> bool:
    """Make it a layer, if it is one by its weights."""
    operator = node.operator.removeprefix("onnx.")
    function = WEIGHTED.get(operator) if node.operator.startswith("onnx.") else None
    found = function(node) if function else None
    if found is None:
        return False
    tensors, settings = found
    node.kind = f"onnx.nn.{operator}"
    node.tensors = {name: value for name, value in tensors.items() if value is not None}
    node.settings = {**node.arguments, "has_bias": "bias" in node.tensors, **settings}
    return True


def is_weight(value: Any) -> bool:
    """A constant of real numbers."""
    return isinstance(value, Known) and value.content is not None and value.dtype.startswith(("float", "bfloat"))


def _optional(value: Any) -> bool:
    return value is None or is_weight(value)


def _is_data(value: Any) -> bool:
    return isinstance(value, Known) and value.content is None and value.ranked


def _conv(node: Node) -> Layer | None:
    given = node.arguments
    if not (_is_data(given["X"]) and is_weight(given["W"]) and _optional(given["B"])):
        return None
    weight, spatial = given["W"], given["X"].shape[2:]
    if len(spatial) not in (1, 2, 3) or weight.dtype != "float32":
        return None
    kernel = weight.shape[2:]
    strides = given["strides"] or (1,) * len(kernel)
    dilations = given["dilations"] or (1,) * len(kernel)
    if node.operator == "onnx.ConvTranspose":
        channels, out = weight.shape[0], weight.shape[1] * given["group"]
        fits = not any(given["output_padding"] or ()) and not given["output_shape"] and len(kernel) == 2
    else:
        channels, out, fits = weight.shape[1] * given["group"], weight.shape[0], True
    pads = padding(given["auto_pad"], given["pads"], spatial, kernel, strides, dilations)
    sides = len(kernel)
    uneven = pads is not None and pads[:sides] != pads[sides:]
    if not fits or pads is None or (uneven and (len(kernel) != 2 or node.operator == "onnx.ConvTranspose")):
        return None
    if node.operator == "onnx.ConvTranspose" and given["auto_pad"] not in ("NOTSET", "VALID"):
        return None
    settings = {"in_channels": channels, "out_channels": out, "kernel_size": kernel, "strides": strides}
    return {"weight": weight, "bias": given["B"]}, settings | {"dilations": dilations, "pads": pads}


def _gemm(node: Node) -> Layer | None:
    given = node.arguments
    plain = given["alpha"] == 1 and given["beta"] == 1 and not given["transA"]
    bias = given["C"]
    if not (plain and _is_data(given["A"]) and is_weight(given["B"]) and _optional(bias)):
        return None
    if bias is not None and bias.rank != 1:
        return None
    out, channels = given["B"].shape if given["transB"] else given["B"].shape[::-1]
    if bias is not None and bias.shape != (out,):
        return None
    settings = {"in_channels": channels, "out_channels": out, "turned": not given["transB"]}
    return {"weight": given["B"], "bias": bias}, settings


def _matmul(node: Node) -> Layer | None:
    given = node.arguments
    weight, bias = given["B"], given.get("C")
    if not (_is_data(given["A"]) and is_weight(weight) and weight.rank == 2 and weight.is_initialiser):
        return None
    if given["A"].rank < 2 or weight.dtype != "float32":
        return None
    channels, out = weight.shape
    settings = {"in_channels": channels, "out_channels": out, "turned": True}
    return {"weight": weight, "bias": bias}, settings


def _batch_norm(node: Node) -> Layer | None:
    given = node.arguments
    names = ("scale", "B", *(name for name in ("mean", "var", "input_mean", "input_var") if name in given))
    if not (_is_data(given["X"]) and all(is_weight(given[name]) for name in names)):
        return None
    if given["X"].rank not in (2, 3, 4, 5) or given["X"].dtype != "float32" or given.get("spatial", 1) == 0:
        return None
    gamma, beta, mean, variance = (given[name] for name in names)
    tensors = {"gamma": gamma, "beta": beta, "moving_mean": mean, "moving_variance": variance}
    return tensors, {"num_features": gamma.shape[0], "rank": given["X"].rank}


def _layer_norm(node: Node) -> Layer | None:
    given = node.arguments
    if not (_is_data(given["X"]) and is_weight(given["Scale"]) and is_weight(given["B"])):
        return None
    rank = given["X"].rank
    shape = given["X"].shape[given["axis"] % rank :]
    if given["Scale"].shape != shape or len(shape) != 1 or len(node.outputs) > 1 or given["X"].dtype != "float32":
        return None
    return {"gamma": given["Scale"], "beta": given["B"]}, {"shape": shape}


def _group_norm(node: Node) -> Layer | None:
    given = node.arguments
    data = given["input"] if "input" in given else given["X"]
    scale, bias = given["scale"], given["B"] if "B" in given else given["bias"]
    if not (_is_data(data) and is_weight(scale) and is_weight(bias)) or not isinstance(data.shape[1], int):
        return None
    channels = data.shape[1]
    if scale.shape != (channels,) or data.rank != 4 or data.dtype != "float32":
        return None
    groups = given.get("num_groups", channels)
    return {"gamma": scale, "beta": bias}, {"num_groups": groups, "num_channels": channels}


def _embedding(node: Node) -> Layer | None:
    given = node.arguments
    table = given["data"]
    if given["axis"] != 0 or not is_weight(table) or table.rank != 2 or not table.is_initialiser:
        return None
    if not _is_data(given["indices"]) or table.dtype != "float32":
        return None
    return {"embedding_table": table}, {"vocab_size": table.shape[0], "embedding_size": table.shape[1]}


def _dropout(node: Node) -> Layer | None:
    """A layer, since it acts in training; what it does in evaluation is nothing."""
    ratio = node.arguments.get("ratio")
    if isinstance(ratio, Known):
        ratio = None if ratio.content is None else float(str(ratio.content.reshape(-1)[0]))
    else:
        ratio = 0.5 if ratio is None else ratio
    if ratio is None or len(node.outputs) > 1 or not _is_data(node.arguments["data"]) or not 0 <= ratio < 1:
        return None
    return {}, {"p": ratio}


WEIGHTED: Mapping[str, Callable[[Node], Layer | None]] = {
    "BatchNormalization": _batch_norm,
    "Conv": _conv,
    "ConvTranspose": _conv,
    "Dropout": _dropout,
    "GRU": recurrent,
    "Gather": _embedding,
    "Gemm": _gemm,
    "GroupNormalization": _group_norm,
    "InstanceNormalization": _group_norm,
    "LSTM": recurrent,
    "LayerNormalization": _layer_norm,
    "MatMul": _matmul,
    "RNN": recurrent,
}
