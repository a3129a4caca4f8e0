"""Tensors out of nothing: ranges, zeros, ones."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Name, infix
from luthier.port.registry import ports

__all__: list[str] = []


def typed(call: Call) -> Name:
    """The type that the source's tensor has, whichever way it came to it."""
    return Name(f"ms.{call.outputs[0].dtype}")


@ports("aten.arange.default", "aten.arange.start", "aten.arange.start_step")
def arange(call: Call) -> Emit:
    """MindSpore takes its type from the numbers, PyTorch from the numbers' kinds or from what is asked."""
    start, step = call.arguments.get("start", 0), call.arguments.get("step", 1)
    ends: tuple[Any, ...] = (call["end"],) if start == 0 and step == 1 else (start, call["end"])
    if step != 1:
        ends = (*ends, step)
    made = Emit("ops.arange", *ends)
    return made if call.outputs[0].dtype == "int64" else Emit(".astype", made, typed(call))


@ports("aten.linspace.default")
def linspace(call: Call) -> Emit:
    """MindSpore takes the type from the start."""
    return Emit(".astype", Emit("ops.linspace", float(call["start"]), float(call["end"]), call["steps"]), typed(call))


def single(call: Call, value: Any) -> Emit:
    """A tensor of one number and no axis."""
    return Emit("Tensor", bool(value) if call.outputs[0].dtype == "bool_" else value, typed(call))


@ports("aten.zeros.default", "aten.new_zeros.default")
def zeros(call: Call) -> Emit:
    """MindSpore has none without an axis on a CPU, nor any of truth values, which are compared."""
    if call["size"] == ():
        return single(call, 0)
    if call.outputs[0].dtype == "bool_":
        return infix(">", Emit("ops.zeros", call["size"]), 0)
    return Emit("ops.zeros", call["size"], typed(call))


@ports("aten.ones.default", "aten.new_ones.default")
def ones(call: Call) -> Emit:
    """MindSpore has none without an axis on a CPU, nor any of truth values, which are compared."""
    if call["size"] == ():
        return single(call, 1)
    if call.outputs[0].dtype == "bool_":
        return infix(">", Emit("ops.ones", call["size"]), 0)
    return Emit("ops.ones", call["size"], typed(call))


@ports("aten.full.default", "aten.new_full.default")
def full(call: Call) -> Emit:
    """MindSpore 2.10 makes whole numbers where no type is said."""
    if call["size"] == ():
        return single(call, call["fill_value"])
    return Emit("ops.full", call["size"], call["fill_value"], dtype=typed(call))


@ports("aten.zeros_like.default", "aten.ones_like.default", "aten.zero.default")
def like(call: Call) -> Emit:
    """The other's shape, and its type unless another is asked for."""
    name = "ops.ones_like" if "ones" in call.operator else "ops.zeros_like"
    dtype = call.outputs[0].dtype
    made = Emit(name, call["self"])
    return made if dtype == call["self"].dtype else Emit(".astype", made, typed(call))


@ports("aten.full_like.default")
def full_like(call: Call) -> Emit:
    """The type is said, since MindSpore's comes from the number."""
    return Emit("ops.full_like", call["self"], call["fill_value"], dtype=typed(call))


@ports("aten.eye.default", "aten.eye.m")
def eye(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.eye", call["n"], call.arguments.get("m", call["n"]), typed(call))
