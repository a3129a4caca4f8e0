"""Reductions, whose axes are an attribute in one revision and an input in the next."""

from __future__ import annotations

import math
from typing import Any

from luthier.port.emit import Call, Emit, index, infix
from luthier.port.known import Known
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import INTEGERS, ints, number, retyped, typed

__all__: list[str] = []


def axes_of(call: Call) -> Any:
    """All axes where none is named, unless the revision says that none is meant."""
    axes = ints(call, "axes")
    if isinstance(axes, Emit):
        if call["axes"].shape == (0,):
            return () if call.arguments.get("noop_with_empty_axes") else None
        return axes
    if not axes:
        given = call.arguments.get("axes")
        open_axes = isinstance(given, Known) and given.content is None
        return () if call.arguments.get("noop_with_empty_axes") and not open_axes else None
    return axes[0] if len(axes) == 1 else axes


def empty(call: Call, value: float) -> Emit | None:
    """Of nothing at all: a tensor that is known."""
    shape = call.outputs[0].shape
    if 0 not in call["data"].shape or 0 in shape:
        return None
    dtype = call.outputs[0].dtype
    if math.isinf(value) and dtype in INTEGERS:
        value = _least(dtype) if value < 0 else _greatest(dtype)
    if dtype == "bool_":
        return infix(">", Emit("ops.zeros", shape), 0) if value < 0 else infix("==", Emit("ops.zeros", shape), 0)
    return Emit("ops.full", shape, value, dtype=typed(dtype), composed=True)


def _least(dtype: str) -> int:
    return 0 if dtype.startswith("u") else -(1 << (int(dtype[3:]) - 1))


def _greatest(dtype: str) -> int:
    return (1 << int(dtype[4:])) - 1 if dtype.startswith("u") else (1 << (int(dtype[3:]) - 1)) - 1


def reduced(call: Call, target: str, value: Any, axis_name: str, keep_name: str) -> Any:
    """A function of MindSpore's over the axes."""
    axes = axes_of(call)
    if axes == ():
        return value
    keep = bool(call["keepdims"])
    if axes is None and keep:
        axes = tuple(range(call["data"].rank))
    if axes is None:
        return Emit(target, value)
    return Emit(target, value, **{axis_name: axes, keep_name: keep})


def summed(call: Call, value: Any) -> Any:
    """The sum, in the type that it had."""
    made = reduced(call, "ops.sum", value, "dim", "keepdim")
    dtype = call.outputs[0].dtype
    return retyped(made, dtype) if dtype in INTEGERS and dtype not in ("int64", "int32") else made


@ports("onnx.ReduceSum")
def total(call: Call) -> Emit:
    """Whole numbers keep their type."""
    made = empty(call, 0) or summed(call, call["data"])
    return made if isinstance(made, Emit) else Emit("same", made)


@ports("onnx.ReduceMean")
def mean(call: Call) -> Emit:
    """The same function."""
    made = reduced(call, "ops.mean", call["data"], "axis", "keep_dims")
    return made if isinstance(made, Emit) else Emit("same", made)


@ports("onnx.ReduceMax", "onnx.ReduceMin")
def extreme(call: Call) -> Emit:
    """Of truth values, any or all of them."""
    greatest = call.operator.endswith("Max")
    done = empty(call, -math.inf if greatest else math.inf)
    if done is not None:
        return done
    if call["data"].dtype == "bool_":
        made = reduced(call, "ops.any" if greatest else "ops.all", call["data"], "axis", "keep_dims")
    else:
        made = reduced(call, "ops.amax" if greatest else "ops.amin", call["data"], "axis", "keepdims")
    return made if isinstance(made, Emit) else Emit("same", made)


@ports("onnx.ReduceProd")
def prod(call: Call) -> Emit:
    """The same function."""
    made = empty(call, 1) or reduced(call, "ops.prod", call["data"], "axis", "keep_dims")
    if not isinstance(made, Emit):
        return Emit("same", made)
    dtype = call.outputs[0].dtype
    return retyped(made, dtype) if dtype in INTEGERS else made


@ports("onnx.ReduceL1")
def l1(call: Call) -> Emit:
    """The sum of magnitudes."""
    made: Emit = empty(call, 0) or summed(call, Emit("ops.abs", call["data"]))
    return made


@ports("onnx.ReduceL2")
def l2(call: Call) -> Emit:
    """The root of the sum of squares."""
    return empty(call, 0) or Emit("ops.sqrt", summed(call, Emit("ops.square", call["data"])), composed=True)


@ports("onnx.ReduceSumSquare")
def sum_square(call: Call) -> Emit:
    """The sum of squares."""
    made: Emit = empty(call, 0) or summed(call, Emit("ops.square", call["data"]))
    return made


@ports("onnx.ReduceLogSum")
def log_sum(call: Call) -> Emit:
    """The logarithm of the sum."""
    return empty(call, -math.inf) or Emit("ops.log", summed(call, call["data"]), composed=True)


@ports("onnx.ReduceLogSumExp")
def log_sum_exp(call: Call) -> Emit:
    """The greatest is taken off first."""
    done = empty(call, -math.inf)
    if done is not None:
        return done
    axes = axes_of(call)
    axes = tuple(range(call["data"].rank)) if axes is None else axes
    if axes == ():
        return Emit("same", call["data"])
    if isinstance(axes, Emit) or not call["data"].rank:
        summed_up = reduced(call, "ops.sum", Emit("ops.exp", call["data"]), "dim", "keepdim")
        return Emit("ops.log", summed_up, composed=True)
    return Emit("ops.logsumexp", call["data"], axes, keepdim=bool(call["keepdims"]))


@ports("onnx.ArgMax", "onnx.ArgMin")
def place(call: Call) -> Emit:
    """Of equals the first, or the last: then the axis is turned round."""
    x, axis, keep = call["data"], call["axis"], bool(call["keepdims"])
    last = bool(call.arguments.get("select_last_index"))
    value: Any = Emit("ops.flip", x, (axis % x.rank,)) if last else x
    if call.operator.endswith("Max"):
        made: Any = Emit("ops.argmax", value, dim=axis, keepdim=keep)
    else:
        made = Emit(".astype", Emit("ops.argmin", value, axis=axis, keepdims=keep), typed("int64"))
    if not last:
        return made  # type: ignore[no-any-return]
    length = x.shape[axis]
    return infix("-", length - 1 if isinstance(length, int) else infix("-", length, 1), made, composed=True)


@ports("onnx.TopK")
def top_k(call: Call) -> Emit:
    """Places are int64."""
    x = call["X"]
    k = number(call, "K") if "K" in call.arguments else call["k"]
    axis, largest = call["axis"], call.arguments.get("largest", 1)
    helper = "top_k"
    return Emit(helper, x, k, axis, bool(largest), helpers=(helper,), composed=True)


@ports("onnx.NonZero")
def non_zero(call: Call) -> Emit:
    """A row for each axis."""
    return Emit(".swapaxes", Emit("ops.nonzero", call["X"]), 0, 1, composed=True)


@ports("onnx.LpNormalization")
def lp_normalization(call: Call) -> Emit:
    """By the norm along an axis; where that is zero, zero."""
    helper = "lp_normalised"
    return Emit(helper, call["input"], call["axis"], call["p"], helpers=(helper,), composed=True)


@ports("onnx.MatMul")
def matmul(call: Call) -> Emit:
    """As in NumPy; whole numbers are multiplied as they are."""
    a, b = call["A"], call["B"]
    if "C" in call.arguments:
        return infix("+", infix("@", a, b), call["C"], composed=True)
    return infix("@", a, b)


@ports("onnx.Gemm")
def gemm(call: Call) -> Emit:
    """A product of matrices, scaled, and a third added."""
    a: Any = call["A"]
    b: Any = call["B"]
    a = Emit(".swapaxes", a, 0, 1) if call["transA"] else a
    b = Emit(".swapaxes", b, 0, 1) if call["transB"] else b
    made = infix("@", a, b)
    if call["alpha"] != 1:
        made = infix("*", call["alpha"], made)
    c = call["C"]
    if c is None:
        return made
    return infix("+", made, c if call["beta"] == 1 else infix("*", call["beta"], c), composed=True)


@ports("onnx.Einsum")
def einsum(call: Call) -> Emit:
    """Products of matrices and sums, written out."""
    from luthier.port.rules.einsum import einsum_of

    inner = Call(
        operator=call.operator,
        arguments={"equation": call["equation"].replace(" ", ""), "tensors": call["Inputs"]},
        at=call.at,
        outputs=call.outputs,
    )
    return einsum_of(inner)


@ports("onnx.Unique")
def unique(call: Call) -> Emit:
    """Of everything, or along an axis; in order, or as they come first."""
    helper = "unique"
    made = Emit(helper, call["X"], call["axis"], bool(call["sorted"]), helpers=(helper,), composed=True)
    return made if len(call.outputs) > 1 else index(made, 0)
