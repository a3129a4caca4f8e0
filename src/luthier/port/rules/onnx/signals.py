"""Signals, random numbers, and what is seldom seen."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported, infix
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import INTEGERS, REALS, number, retyped, typed
from luthier.port.rules.onnx.pooling import window

__all__: list[str] = []


@ports("onnx.DFT")
def dft(call: Call) -> Emit:
    """Products with cosines and sines: real and imaginary parts lie on the last axis."""
    axis = call["axis"] if isinstance(call["axis"], int) else number(call, "axis", -2)
    length = number(call, "dft_length")
    helper = "fourier"
    return Emit(
        helper,
        call["input"],
        axis if axis is not None else 1,
        length,
        bool(call["inverse"]),
        bool(call["onesided"]),
        helpers=(helper,),
        composed=True,
    )


@ports("onnx.BitCast")
def bit_cast(call: Call) -> Emit:
    """The same bits, read as another type."""
    before, after = call["input"].dtype, call.outputs[0].dtype
    known = (*INTEGERS, *REALS[:3], "bool_")
    if before not in known or after not in known:
        raise Unsupported(f"BitCast of {before} to {after}: MindSpore lacks one", at=call.at, hint="Use int8.")
    helper = "same_bits"
    return Emit(helper, call["input"], after, helpers=(helper,), composed=True)


@ports("onnx.RandomNormal", "onnx.RandomNormalLike")
def random_normal(call: Call) -> Emit:
    """Drawn anew each time; a seed is MindSpore's own business."""
    drawn = infix("*", Emit("ops.standard_normal", call.outputs[0].shape), call["scale"])
    return retyped(infix("+", drawn, call["mean"]), call.outputs[0].dtype)


@ports("onnx.RandomUniform", "onnx.RandomUniformLike")
def random_uniform(call: Call) -> Emit:
    """Drawn anew each time; a seed is MindSpore's own business."""
    span = infix("*", Emit("ops.rand", call.outputs[0].shape), call["high"] - call["low"])
    return retyped(infix("+", span, call["low"]), call.outputs[0].dtype)


@ports("onnx.Bernoulli")
def bernoulli(call: Call) -> Emit:
    """Ones with the probability that is given."""
    drawn = infix("<", Emit("ops.rand", call["input"].shape), call["input"])
    return retyped(drawn, call.outputs[0].dtype)


@ports("onnx.Multinomial")
def multinomial(call: Call) -> Emit:
    """Classes by the logarithms of their weights."""
    weights = Emit("ops.softmax", call["input"], axis=-1)
    return retyped(Emit("ops.multinomial", weights, call["sample_size"]), call.outputs[0].dtype)


@ports("onnx.DeformConv")
def deform_conv(call: Call) -> Emit:
    """Every number of the kernel is taken from a place of its own."""
    x, weight = call["X"], call["W"]
    kernel = tuple(weight.shape[2:])
    inner = Call(operator=call.operator, arguments={**call.arguments, "auto_pad": "NOTSET"}, at=call.at)
    strides, dilations, pads = window(inner, kernel, x)
    if len(kernel) != 2:
        raise Unsupported("DeformConv of other than images has no rule", at=call.at, hint="Use two axes.")
    helper = "deformed_conv"
    given: tuple[Any, ...] = (x, weight, call["offset"], call["B"], call["mask"], strides, pads, dilations)
    return Emit(helper, *given, call["group"], call["offset_group"], helpers=(helper,), composed=True)


@ports("onnx.MelWeightMatrix")
def mel_weights(call: Call) -> Emit:
    """Triangles over the frequencies, as many as bins."""
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    helper = "mel_weights"
    made = Emit(helper, *(number(call, name) for name in names), helpers=(helper,), composed=True)
    return Emit(".astype", made, typed(call.outputs[0].dtype))
