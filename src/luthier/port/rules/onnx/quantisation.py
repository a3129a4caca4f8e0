"""Quantised numbers: scales, zero points, and products of whole numbers."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported, infix
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import INTEGERS, REALS, dtype_of, typed

__all__: list[str] = []

WHOLE = {name: (int(name.lstrip("uint")), name[0] == "u") for name in INTEGERS}


def ends(dtype: str) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    bits, unsigned = WHOLE[dtype]
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def require(call: Call, *dtypes: str) -> None:
    """MindSpore has no numbers of eight bits with an exponent, nor of four."""
    for dtype in dtypes:
        if dtype not in WHOLE and dtype not in REALS:
            raise Unsupported(
                f"{call.operator} of {dtype} has no rule: MindSpore has no such type",
                at=call.at,
                hint="Quantise to int8 or uint8.",
            )


def spread(call: Call, value: Any, axis: int, rank: int, block: int = 0) -> Any:
    """A number for each place of an axis, or for each block of it."""
    if value is None or value.rank == 0 or (value.rank == 1 and value.shape == (1,)):
        return value
    if value.rank == 1 and not block:
        axis %= rank
        shape = tuple(-1 if i == axis else 1 for i in range(rank))
        return Emit(".reshape", value, *shape)
    if block:
        return Emit("ops.repeat_interleave", value, block, axis=axis % rank)
    return value


@ports("onnx.QuantizeLinear")
def quantize(call: Call) -> Emit:
    """Rounded to even, moved, and held within the type."""
    x, dtype = call["x"], call.outputs[0].dtype
    require(call, dtype)
    block = call.arguments.get("block_size") or 0
    axis = call.arguments.get("axis", 1)
    scale = spread(call, call["y_scale"], axis, x.rank, block)
    zero = spread(call, call["y_zero_point"], axis, x.rank, block)
    low, high = ends(dtype)
    helper = "quantised"
    return Emit(helper, x, scale, zero, low, high, typed(dtype), helpers=(helper,), composed=True)


@ports("onnx.DequantizeLinear")
def dequantize(call: Call) -> Emit:
    """The zero point taken off, and scaled."""
    x = call["x"]
    require(call, dtype_of(x))
    block = call.arguments.get("block_size") or 0
    axis = call.arguments.get("axis", 1)
    scale = spread(call, call["x_scale"], axis, x.rank, block)
    zero = spread(call, call["x_zero_point"], axis, x.rank, block)
    value: Any = Emit(".astype", x, typed("float32"))
    if zero is not None:
        value = infix("-", value, Emit(".astype", zero, typed("float32")))
    made = infix("*", value, scale, composed=True)
    return Emit(".astype", made, typed(call.outputs[0].dtype)) if call.outputs[0].dtype != "float32" else made


def moved(value: Any, zero: Any, shape: tuple[int, ...] | None = None) -> Emit:
    """As int32, the zero point taken off."""
    made = Emit(".astype", value, typed("int32"))
    if zero is None:
        return made
    point: Any = Emit(".astype", zero, typed("int32"))
    if shape is not None and zero.rank == 1 and zero.shape != (1,):
        point = Emit(".reshape", point, *shape)
    return infix("-", made, point)


@ports("onnx.MatMulInteger")
def matmul_integer(call: Call) -> Emit:
    """Products of whole numbers, exact."""
    a = moved(call["A"], call["a_zero_point"], (-1, 1))
    return infix("@", a, moved(call["B"], call["b_zero_point"]), composed=True)


@ports("onnx.ConvInteger")
def conv_integer(call: Call) -> Emit:
    """A convolution of whole numbers; MindSpore's takes real ones, in which sums below 2²⁴ are exact."""
    helper = "conv_of_integers"
    return Emit(helper, *_convolved(call, "x", "w"), helpers=(helper,), composed=True)


def _convolved(call: Call, x: str, w: str) -> tuple[Any, ...]:
    from luthier.port.rules.onnx.pooling import window

    kernel = tuple(call[w].shape[2:])
    strides, dilations, pads = window(call, kernel, call[x])
    zeros = [call.arguments.get(f"{name}_zero_point") for name in (x, w)]
    return (call[x], call[w], zeros[0], zeros[1], strides, pads, dilations, call["group"])


@ports("onnx.QLinearConv")
def qlinear_conv(call: Call) -> Emit:
    """A convolution of whole numbers, scaled and rounded."""
    helper = "qlinear_conv"
    low, high = ends(call.outputs[0].dtype)
    return Emit(
        helper,
        *_convolved(call, "x", "w"),
        call["B"],
        call["x_scale"],
        call["w_scale"],
        call["y_scale"],
        call["y_zero_point"],
        low,
        high,
        helpers=(helper,),
        composed=True,
    )


@ports("onnx.QLinearMatMul")
def qlinear_matmul(call: Call) -> Emit:
    """A product of whole numbers, scaled and rounded."""
    require(call, call["a"].dtype, call["b"].dtype)
    helper = "qlinear_matmul"
    low, high = ends(call.outputs[0].dtype)
    names = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
    return Emit(helper, *(call[name] for name in names), low, high, helpers=(helper,), composed=True)
