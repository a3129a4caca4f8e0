"""Activations with numbers of their own, as layers and as functions."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, infix
from luthier.port.known import Known
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import number, operand, retyped, typed

__all__: list[str] = []


@ports("onnx.Tanh")
def tanh(call: Call) -> Emit:
    """MindSpore 2.10's own is off by 1e-4 near ±5 on a CPU."""
    return Emit("tanh", call["input"], helpers=("tanh",), composed=True)


@ports("onnx.nn.Tanh")
def tanh_layer(call: Call) -> Emit:
    """MindSpore 2.10's own is off by 1e-4 near ±5 on a CPU."""
    return Emit("Tanh", helpers=("Tanh",), composed=True)


@ports("onnx.nn.Softplus", "onnx.nn.Selu", "onnx.nn.HardSigmoid", "onnx.nn.GlobalMaxPool")
def as_a_function(call: Call) -> Emit:
    """MindSpore has no such layer: a function in the forward pass."""
    return Emit("forward")


@ports("onnx.Gelu")
def gelu(call: Call) -> Emit:
    """The function has ONNX's default."""
    return Emit("ops.gelu", call["X"], approximate=call["approximate"])


@ports("onnx.nn.Gelu")
def gelu_layer(call: Call) -> Emit:
    """MindSpore's default is the tanh approximation, ONNX's the error function."""
    return Emit("nn.GELU", approximate=call["approximate"] == "tanh")


@ports("onnx.LeakyRelu")
def leaky_relu(call: Call) -> Emit:
    """MindSpore's default slope is 0.2, ONNX's 0.01."""
    return Emit("ops.leaky_relu", call["X"], alpha=call["alpha"])


@ports("onnx.nn.LeakyRelu")
def leaky_relu_layer(call: Call) -> Emit:
    """MindSpore's default slope is 0.2, ONNX's 0.01."""
    return Emit("nn.LeakyReLU", alpha=call["alpha"])


@ports("onnx.Elu")
def elu(call: Call) -> Emit:
    """MindSpore's operator on a CPU knows alpha 1 alone; any other is composed."""
    if call["alpha"] == 1:
        return Emit("ops.elu", call["X"])
    return Emit("elu", call["X"], call["alpha"], 1.0, 1.0, helpers=("elu",), composed=True)


@ports("onnx.nn.Elu")
def elu_layer(call: Call) -> Emit:
    """MindSpore's operator on a CPU knows alpha 1 alone."""
    return Emit("nn.ELU") if call["alpha"] == 1 else Emit("forward")


@ports("onnx.Celu")
def celu(call: Call) -> Emit:
    """The exponent is divided by alpha."""
    return Emit("elu", call["X"], call["alpha"], 1.0, 1.0 / call["alpha"], helpers=("elu",), composed=True)


@ports("onnx.Selu")
def selu(call: Call) -> Emit:
    """Gamma scales the whole."""
    return Emit("elu", call["X"], call["alpha"], call["gamma"], 1.0, helpers=("elu",), composed=True)


@ports("onnx.ThresholdedRelu")
def thresholded_relu(call: Call) -> Emit:
    """Nothing up to alpha."""
    return Emit("ops.where", infix(">", call["X"], call["alpha"]), call["X"], 0.0, composed=True)


@ports("onnx.HardSigmoid")
def hard_sigmoid(call: Call) -> Emit:
    """A line between 0 and 1; MindSpore's has a slope of its own."""
    if abs(call["alpha"] - 1 / 6) < 1e-6 and call["beta"] == 0.5:
        return Emit("ops.hardsigmoid", call["X"])
    line = infix("+", infix("*", call["X"], call["alpha"]), call["beta"])
    return Emit("ops.clamp", line, 0.0, 1.0, composed=True)


@ports("onnx.Swish")
def swish(call: Call) -> Emit:
    """Alpha stands in the gate."""
    x = call["X"]
    if call["alpha"] == 1:
        return Emit("ops.silu", x)
    return infix("*", x, Emit("ops.sigmoid", infix("*", call["alpha"], x)), composed=True)


@ports("onnx.PRelu")
def prelu(call: Call) -> Emit:
    """The slope is spread as in arithmetic."""
    x = call["X"]
    return Emit("ops.where", infix(">", x, 0), x, infix("*", x, operand(call["slope"], x)), composed=True)


@ports("onnx.Shrink")
def shrink(call: Call) -> Emit:
    """Nothing between −lambd and lambd; beyond, the bias is taken off."""
    x, limit, bias = call["input"], call["lambd"], call["bias"]
    inner = Emit("ops.where", infix(">", x, limit), infix("-", x, bias), Emit("ops.zeros_like", x))
    made = Emit("ops.where", infix("<", x, -limit), infix("+", x, bias), inner, composed=True)
    return made if x.dtype in ("float32", "float64") else cast_back(made, x.dtype)


def cast_back(made: Emit, dtype: str) -> Emit:
    """What arithmetic with real numbers has changed."""
    return Emit(".astype", made, typed(dtype), composed=True)


@ports("onnx.Clip")
def clip(call: Call) -> Emit:
    """Either end may be missing; MindSpore takes numbers, or tensors."""
    ends = []
    for name in ("min", "max"):
        value = call.arguments.get(name)
        if isinstance(value, Known):
            value = number(call, name) if value.content is not None and value.dtype != "uint16" else value
        elif name in call.arguments and call["since"] < 11 and value is not None and abs(value) >= 3.4e38:
            value = None
        ends.append(value)
    x = call["input"]
    if ends == [None, None]:
        return Emit("same", x)
    if all(end is None or not isinstance(end, Known) for end in ends):
        return Emit("ops.clamp", x, min=ends[0], max=ends[1])
    low = x if ends[0] is None else Emit("ops.maximum", x, ends[0])
    return Emit("same", low) if ends[1] is None else Emit("ops.minimum", low, ends[1])


def flattened(call: Call, made: str, axis: int) -> Emit:
    """Before opset 13 the softmax went over everything from the axis on."""
    x: Any = call["input"]
    rank = x.rank
    axis = axis % rank
    if call["since"] >= 13 or axis == rank - 1:
        return Emit(made, x, axis=axis if axis != rank - 1 else -1)
    from luthier.port.rules.shape import sized

    flat = Emit("ops.flatten", x, start_dim=axis)
    return Emit(".reshape", Emit(made, flat, axis=-1), *sized(x.shape), composed=True)


@ports("onnx.Softmax")
def softmax(call: Call) -> Emit:
    """Before opset 13 over everything from the axis on, since then over the axis."""
    return flattened(call, "ops.softmax", call["axis"])


@ports("onnx.LogSoftmax")
def log_softmax(call: Call) -> Emit:
    """Before opset 13 over everything from the axis on, since then over the axis."""
    return flattened(call, "ops.log_softmax", call["axis"])


@ports("onnx.nn.Softmax", "onnx.nn.LogSoftmax")
def softmax_layer(call: Call) -> Emit:
    """Before opset 13 it is not MindSpore's, unless the axis is the last one."""
    if call["since"] < 13 and call["axis"] != -1:
        return Emit("forward")
    return Emit("nn.Softmax" if call.operator.endswith(".Softmax") else "nn.LogSoftmax", axis=call["axis"])


@ports("onnx.Hardmax")
def hardmax(call: Call) -> Emit:
    """A one where the greatest number stands first."""
    x = call["input"]
    axis = call["axis"] % x.rank
    if call["since"] < 13 and axis != x.rank - 1:
        from luthier.port.rules.shape import sized

        flat = Emit("hardmax", Emit("ops.flatten", x, start_dim=axis), axis, helpers=("hardmax",))
        return Emit(".reshape", flat, *sized(x.shape), composed=True)
    return Emit("hardmax", x, axis, helpers=("hardmax",), composed=True)


@ports("onnx.Dropout")
def dropout(call: Call) -> Emit:
    """In evaluation nothing; with a mask, it is all ones."""
    x: Any = call["data"]
    if len(call.outputs) == 1:
        return Emit("same", x)
    mask = infix("==", x, x) if x.dtype in ("float32",) else Emit("ops.ones_like", x)
    return Emit("tuple", x, retyped(mask, call.outputs[1].dtype), composed=True)


@ports("onnx.nn.Dropout")
def dropout_layer(call: Call) -> Emit:
    """MindSpore's first positional argument is the share that stays: p is named, always."""
    return Emit("nn.Dropout", p=float(call["p"]))
