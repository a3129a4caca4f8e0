"""Reductions: sums, means, extremes, statistics."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Name, index, infix, sequence
from luthier.port.graph import Value
from luthier.port.registry import ports

__all__: list[str] = []


def axes(dim: Any) -> Any:
    """One axis is written as a number; none or all as None."""
    if dim is None or dim == ():
        return None
    return dim[0] if isinstance(dim, tuple) and len(dim) == 1 else dim


def typed(call: Call, made: Emit) -> Emit:
    """In the type that was asked for, where one was."""
    dtype = call.outputs[0].dtype
    if isinstance(call["self"], Value) and dtype == call["self"].dtype:
        return made
    return Emit(".astype", made, Name(f"ms.{dtype}"))


@ports("aten.mean.dim", "aten.mean.default")
def mean(call: Call) -> Emit:
    """The same function."""
    if call.operator.endswith("default"):
        return typed(call, Emit("ops.mean", call["self"]))
    return typed(call, Emit("ops.mean", call["self"], axis=axes(call["dim"]), keep_dims=call["keepdim"]))


@ports("aten.sum.dim_IntList", "aten.sum.default")
def total(call: Call) -> Emit:
    """Whole numbers and truth values add up to int64."""
    value: Any = call["self"]
    if value.dtype == "bool_":
        value = Emit(".astype", value, Name("ms.int64"))
    if call.operator.endswith("default"):
        return typed(call, Emit("ops.sum", value))
    return typed(call, Emit("ops.sum", value, dim=axes(call["dim"]), keepdim=call["keepdim"]))


@ports("aten.amax.default", "aten.amin.default")
def extreme(call: Call) -> Emit:
    """The gradient is shared among equals in both."""
    name = "ops.amax" if "amax" in call.operator else "ops.amin"
    return Emit(name, call["self"], axis=axes(call["dim"]), keepdims=call["keepdim"])


@ports("aten.max.default", "aten.min.default")
def extreme_of_all(call: Call) -> Emit:
    """Over everything."""
    return Emit("ops.amax" if ".max." in call.operator else "ops.amin", call["self"])


@ports("aten.max.dim", "aten.min.dim")
def extreme_with_place(call: Call) -> Emit:
    """MindSpore's places are int32; without an axis it means something else, but one is always given here."""
    name = "ops.max" if ".max." in call.operator else "ops.min"
    return Emit(name, call["self"], axis=call["dim"], keepdims=call["keepdim"])


@ports("aten.argmax.default")
def argmax(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.argmax", call["self"], dim=call["dim"], keepdim=call["keepdim"])


@ports("aten.argmin.default")
def argmin(call: Call) -> Emit:
    """Other names of the arguments."""
    return Emit("ops.argmin", call["self"], axis=call["dim"], keepdims=call["keepdim"])


@ports("aten.var.correction", "aten.std.correction", "aten.var.dim", "aten.std.dim")
def spread(call: Call) -> Emit:
    """MindSpore divides by n where nothing is said, PyTorch by n − 1."""
    name = "ops.var" if ".var." in call.operator else "ops.std"
    return Emit(name, call["self"], axis=axes(call["dim"]), ddof=correction(call), keepdims=call["keepdim"])


def correction(call: Call) -> int:
    """What is taken from n."""
    if "unbiased" in call.arguments:
        return int(call["unbiased"])
    return 1 if call["correction"] is None else int(call["correction"])


@ports("aten.var_mean.correction")
def var_mean(call: Call) -> Emit:
    """Both at once."""
    axis = axes(call["dim"])
    var = Emit("ops.var", call["self"], axis=axis, ddof=correction(call), keepdims=call["keepdim"])
    return sequence(var, Emit("ops.mean", call["self"], axis=axis, keep_dims=call["keepdim"]))


@ports("aten.prod.dim_int", "aten.prod.default")
def prod(call: Call) -> Emit:
    """The same function."""
    if call.operator.endswith("default"):
        return Emit("ops.prod", call["self"])
    return Emit("ops.prod", call["self"], axis=call["dim"], keep_dims=call["keepdim"])


@ports("aten.any.dim", "aten.all.dim", "aten.any.default", "aten.all.default")
def truth(call: Call) -> Emit:
    """Of truth values."""
    name = "ops.any" if ".any." in call.operator else "ops.all"
    value: Any = call["self"] if call["self"].dtype == "bool_" else infix("!=", call["self"], 0)
    if call.operator.endswith("default"):
        return Emit(name, value)
    return Emit(name, value, axis=call["dim"], keep_dims=call["keepdim"])


@ports("aten.logsumexp.default")
def logsumexp(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.logsumexp", call["self"], axes(call["dim"]), keepdim=call["keepdim"])


@ports("aten.cumsum.default")
def cumsum(call: Call) -> Emit:
    """MindSpore counts no truth values: they become numbers first."""
    counted = call["self"].dtype == "bool_"
    x = Emit(".astype", call["self"], Name("ms.int32")) if counted else call["self"]
    return typed(call, Emit("ops.cumsum", x, call["dim"]))


@ports("aten.cumprod.default")
def cumprod(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.cumprod", call["self"], call["dim"])


@ports("aten.linalg_vector_norm.default")
def vector_norm(call: Call) -> Emit:
    """The order 2 where nothing is said."""
    return Emit("ops.norm", call["self"], ord=call["ord"], dim=axes(call["dim"]), keepdim=call["keepdim"])


@ports("aten.topk.default")
def topk(call: Call) -> Emit:
    """The same function; places are int32."""
    return Emit("ops.topk", call["self"], call["k"], dim=call["dim"], largest=call["largest"], sorted=call["sorted"])


@ports("aten.sort.default", "aten.sort.stable")
def sort(call: Call) -> Emit:
    """The same function; places are int32."""
    return Emit("ops.sort", call["self"], axis=call["dim"], descending=call["descending"])


@ports("aten.argsort.default")
def argsort(call: Call) -> Emit:
    """The places of a sort."""
    return index(Emit("ops.sort", call["self"], axis=call["dim"], descending=call["descending"]), 1)
