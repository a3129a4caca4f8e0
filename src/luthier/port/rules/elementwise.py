"""Arithmetic, comparisons and choices, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from luthier.port.emit import Call, Emit, Name, Unsupported, infix, method
from luthier.port.graph import Value
from luthier.port.registry import Rule, ports

__all__: list[str] = []

INFIX: Mapping[str, str] = {
    "aten.eq.Scalar": "==",
    "aten.eq.Tensor": "==",
    "aten.ge.Scalar": ">=",
    "aten.ge.Tensor": ">=",
    "aten.gt.Scalar": ">",
    "aten.gt.Tensor": ">",
    "aten.le.Scalar": "<=",
    "aten.le.Tensor": "<=",
    "aten.lt.Scalar": "<",
    "aten.lt.Tensor": "<",
    "aten.matmul.default": "@",
    "aten.mul.Scalar": "*",
    "aten.mul.Tensor": "*",
    "aten.ne.Scalar": "!=",
    "aten.ne.Tensor": "!=",
}


def infixed(operator: str) -> Rule:
    """The rule of one row."""

    def written(call: Call) -> Emit:
        """The same operator between two operands."""
        return infix(operator, call["self"], call["other"])

    return written


for _operator, _sign in INFIX.items():
    ports(_operator)(infixed(_sign))


def scaled(value: Any, factor: Any) -> Any:
    """`factor * value`, or the value alone."""
    return value if factor == 1 else infix("*", factor, value)


@ports("aten.add.Tensor", "aten.add.Scalar")
def add(call: Call) -> Emit:
    """`alpha` multiplies the second."""
    return infix("+", call["self"], scaled(call["other"], call["alpha"]))


@ports("aten.sub.Tensor", "aten.sub.Scalar")
def sub(call: Call) -> Emit:
    """`alpha` multiplies the second."""
    return infix("-", call["self"], scaled(call["other"], call["alpha"]))


@ports("aten.rsub.Scalar", "aten.rsub.Tensor")
def rsub(call: Call) -> Emit:
    """The operands the other way round."""
    return infix("-", call["other"], scaled(call["self"], call["alpha"]))


@ports("aten.div.Tensor", "aten.div.Scalar")
def div(call: Call) -> Emit:
    """A true division of whole numbers, too."""
    return infix("/", call["self"], call["other"])


@ports("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(call: Call) -> Emit:
    """Rounded down, or towards zero."""
    if call["rounding_mode"] == "floor":
        return Emit("ops.floor_divide", call["self"], call["other"])
    quotient = infix("/", call["self"], call["other"])
    if call["rounding_mode"] is None:
        return quotient
    whole = Emit("ops.trunc", quotient)
    dtype = call.outputs[0].dtype
    return whole if dtype.startswith("float") else Emit(".astype", whole, Name(f"ms.{dtype}"), composed=True)


@ports("aten.floor_divide.default", "aten.floor_divide.Scalar")
def floor_divide(call: Call) -> Emit:
    """Rounded down."""
    return Emit("ops.floor_divide", call["self"], call["other"])


@ports("aten.neg.default")
def neg(call: Call) -> Emit:
    """The sign turned."""
    return Emit("unary -", call["self"])


def of_truth(call: Call, target: str, *names: str) -> Emit:
    """Of truth values alone: the bits of numbers have no kernel on a CPU."""
    for name in names:
        if call[name].dtype != "bool_":
            raise Unsupported(
                f"{call.operator} of {call[name].dtype} has no MindSpore equivalent on a CPU",
                at=call.at,
                hint="Compare first, so that it joins truth values.",
            )
    return Emit(target, *(call[name] for name in names))


@ports("aten.bitwise_not.default")
def bitwise_not(call: Call) -> Emit:
    """Of truth values alone."""
    return of_truth(call, "ops.logical_not", "self")


@ports("aten.bitwise_and.Tensor", "aten.__and__.Tensor")
def bitwise_and(call: Call) -> Emit:
    """Of truth values alone."""
    return of_truth(call, "ops.logical_and", "self", "other")


@ports("aten.bitwise_or.Tensor", "aten.__or__.Tensor")
def bitwise_or(call: Call) -> Emit:
    """Of truth values alone."""
    return of_truth(call, "ops.logical_or", "self", "other")


@ports("aten.bitwise_xor.Tensor", "aten.__xor__.Tensor")
def bitwise_xor(call: Call) -> Emit:
    """Of truth values alone."""
    return of_truth(call, "ops.logical_xor", "self", "other")


@ports("aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power(call: Call) -> Emit:
    """The same function; a square and a root have their own."""
    if call["exponent"] == 2 and not isinstance(call["exponent"], Value):
        return Emit("ops.square", call["self"])
    return Emit("ops.pow", call["self"], call["exponent"])


@ports("aten.clamp.default", "aten.clamp.Tensor")
def clamp(call: Call) -> Emit:
    """Either end may be missing."""
    return Emit("ops.clamp", call["self"], min=call["min"], max=call["max"])


@ports("aten.clamp_min.default")
def clamp_min(call: Call) -> Emit:
    """One end of a clamp."""
    return Emit("ops.clamp", call["self"], min=call["min"])


@ports("aten.clamp_max.default")
def clamp_max(call: Call) -> Emit:
    """One end of a clamp."""
    return Emit("ops.clamp", call["self"], max=call["max"])


@ports("aten.addcmul.default", "aten.addcdiv.default")
def addc(call: Call) -> Emit:
    """MindSpore wants the factor as a tensor: written out instead."""
    sign = "*" if "addcmul" in call.operator else "/"
    product = infix(sign, scaled(call["tensor1"], call["value"]), call["tensor2"])
    return infix("+", call["self"], product, composed=True)


@ports("aten.lerp.Tensor")
def lerp(call: Call) -> Emit:
    """Written out: MindSpore's wants equal shapes."""
    difference = infix("-", call["end"], call["self"])
    return infix("+", call["self"], infix("*", call["weight"], difference), composed=True)


@ports("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.masked_fill", call["self"], call["mask"], call["value"])


@ports("aten.log10.default")
def log10(call: Call) -> Emit:
    """A natural logarithm, scaled."""
    return infix("*", Emit("ops.log", call["self"]), 0.4342944819032518, composed=True)


@ports("aten.exp2.default")
def exp2(call: Call) -> Emit:
    """A power of two."""
    return Emit("ops.pow", 2.0, call["self"], composed=True)


@ports("aten.frac.default")
def frac(call: Call) -> Emit:
    """What truncation takes away."""
    return infix("-", call["self"], Emit("ops.trunc", call["self"]), composed=True)


def cast(value: Value, dtype: str | None) -> Emit:
    """Nothing where the type stays; MindSpore's gradient would go through a whole number, PyTorch's does not."""
    if dtype in (None, value.dtype):
        return Emit("same", value)
    made = method(value, "astype", Name(f"ms.{dtype}"))
    cut = is_real(value.dtype) and not is_real(str(dtype))
    return Emit("ops.stop_gradient", made) if cut else made


def is_real(dtype: str) -> bool:
    """Whether it has a gradient."""
    return dtype.startswith(("float", "bfloat", "complex"))


@ports("aten.to.dtype", "aten._to_copy.default", "aten.to.dtype_layout", "aten.to.device")
def to(call: Call) -> Emit:
    """Devices are MindSpore's own business."""
    return cast(call["self"], call["dtype"])


@ports("aten.type_as.default", "aten.to.other")
def type_as(call: Call) -> Emit:
    """The other's type."""
    return cast(call["self"], call["other"].dtype)


@ports(
    "aten.alias.default",
    "aten.clone.default",
    "aten.contiguous.default",
    "aten.lift_fresh_copy.default",
    "aten.positive.default",
)
def nothing(call: Call) -> Emit:
    """Layouts and copies make no difference to the numbers."""
    return Emit("same", call["self"])


@ports("aten.detach.default")
def detach(call: Call) -> Emit:
    """No gradient goes through."""
    return Emit("ops.stop_gradient", call["self"])


@ports("aten.copy.default")
def copy(call: Call) -> Emit:
    """The source, in the place and the shape of what it overwrites."""
    made = cast(call["src"], call["self"].dtype)
    if call["src"].shape == call["self"].shape:
        return made
    inner = made.args[0] if made.target == "same" else made
    return Emit("ops.broadcast_to", inner, call["self"].shape)


@ports("aten.fill.Scalar", "aten.fill.Tensor")
def fill(call: Call) -> Emit:
    """The shape of one, the value of the other."""
    if isinstance(call["value"], Value):
        made = cast(call["value"], call["self"].dtype)
        return Emit("ops.broadcast_to", made.args[0] if made.target == "same" else made, call["self"].shape)
    return Emit("ops.full_like", call["self"], call["value"])
