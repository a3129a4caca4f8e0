"""Layers whose weights the file holds."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported, index, sequence
from luthier.port.graph import Size
from luthier.port.registry import ports
from luthier.port.rules.convolution import one
from luthier.weights import Expand, Transpose

__all__: list[str] = []


def sides(pads: tuple[int, ...]) -> Any:
    """Beginnings and ends, as MindSpore wants them: axis by axis."""
    half = len(pads) // 2
    if len(set(pads)) == 1:
        return pads[0]
    return tuple(amount for pair in zip(pads[:half], pads[half:], strict=True) for amount in pair)


@ports("onnx.nn.Conv")
def conv(call: Call) -> Emit:
    """MindSpore pads to the same size and adds no bias unless told otherwise."""
    rank, pads = len(call["kernel_size"]), call["pads"]
    padded = any(pads)
    transforms = {"weight": Expand(axis=2)} if rank == 1 else None
    return Emit(
        f"nn.Conv{rank}d",
        in_channels=call["in_channels"],
        out_channels=call["out_channels"],
        kernel_size=one(call["kernel_size"]),
        stride=one(call["strides"]),
        pad_mode="pad" if padded else "valid",
        padding=sides(pads) if padded else 0,
        dilation=one(call["dilations"]),
        group=call["group"],
        has_bias=call["has_bias"],
        transforms=transforms,
    )


@ports("onnx.nn.ConvTranspose")
def conv_transpose(call: Call) -> Emit:
    """The weight has the same layout."""
    padded = any(call["pads"])
    return Emit(
        "nn.Conv2dTranspose",
        in_channels=call["in_channels"],
        out_channels=call["out_channels"],
        kernel_size=one(call["kernel_size"]),
        stride=one(call["strides"]),
        pad_mode="pad" if padded else "valid",
        padding=sides(call["pads"]) if padded else 0,
        dilation=one(call["dilations"]),
        group=call["group"],
        has_bias=call["has_bias"],
    )


@ports("onnx.nn.Gemm", "onnx.nn.MatMul")
def dense(call: Call) -> Emit:
    """MindSpore keeps a row for each output, as PyTorch does."""
    transforms = {"weight": Transpose(axes=(1, 0))} if call["turned"] else None
    return Emit(
        "nn.Dense",
        in_channels=call["in_channels"],
        out_channels=call["out_channels"],
        has_bias=call["has_bias"],
        transforms=transforms,
    )


@ports("onnx.nn.BatchNormalization")
def batch_norm(call: Call) -> Emit:
    """ONNX's momentum weighs the old statistic, as MindSpore's does."""
    rank = call["rank"]
    names = ("gamma", "beta", "moving_mean", "moving_variance")
    weights = {name: f"bn2d.{name}" for name in names} if rank == 5 else None
    return Emit(
        {2: "nn.BatchNorm1d", 3: "nn.BatchNorm1d", 4: "nn.BatchNorm2d", 5: "nn.BatchNorm3d"}[rank],
        num_features=call["num_features"],
        eps=call["epsilon"],
        momentum=call["momentum"],
        weights=weights,
    )


@ports("onnx.nn.LayerNormalization")
def layer_norm(call: Call) -> Emit:
    """MindSpore's epsilon is 1e-7 where nothing is said."""
    if any(isinstance(length, Size) for length in call["shape"]):
        raise Unsupported("A normalisation over an open length has no rule", at=call.at, hint="Fix it by --input.")
    return Emit("nn.LayerNorm", call["shape"], epsilon=call["epsilon"])


@ports("onnx.nn.GroupNormalization", "onnx.nn.InstanceNormalization")
def group_norm(call: Call) -> Emit:
    """MindSpore's instance normalisation has no kernel on a CPU: a group for each channel is the same."""
    return Emit("nn.GroupNorm", call["num_groups"], call["num_channels"], eps=call["epsilon"])


@ports("onnx.nn.Gather")
def embedding(call: Call) -> Emit:
    """Rows of a table of weights."""
    return Emit("nn.Embedding", vocab_size=call["vocab_size"], embedding_size=call["embedding_size"])


@ports("onnx.nn.LSTM", "onnx.nn.GRU", "onnx.nn.RNN")
def recurrent(call: Call) -> Emit:
    """The weights were brought into MindSpore's order of gates."""
    kind = call.operator.rpartition(".")[2]
    defaults = {"has_bias": True, "bidirectional": False, "nonlinearity": "tanh"}
    given = {name: call[name] for name in defaults if call[name] != defaults[name]}
    return Emit(f"nn.{kind}", call["input_size"], call["hidden_size"], **given)


@ports("onnx.nn.LSTM.call", "onnx.nn.GRU.call", "onnx.nn.RNN.call")
def recurrent_call(call: Call) -> Emit:
    """ONNX gives the directions an axis of their own."""
    hidden, cell = call["initial_h"], call.arguments.get("initial_c")
    given: tuple[Any, ...] = ()
    if hidden is not None or cell is not None:
        if "LSTM" in call.operator and (hidden is None or cell is None):
            raise Unsupported("An LSTM that is given one of its two states has no rule", at=call.at, hint="Give both.")
        given = (sequence(hidden, cell),) if "LSTM" in call.operator else (hidden,)
    made = Emit("call", call["layer"], call["X"], *given)
    joined = bool(call.arguments.get("joined"))
    directions = 2 if call["direction"] == "bidirectional" else 1
    if len(call.outputs) == 1 and joined:
        return index(made, 0)
    helper = "recurrent_outputs"
    found = Emit(helper, made, 0 if joined else directions, helpers=(helper,), composed=True)
    return found if len(call.outputs) > 1 else index(found, 0)
