"""Arithmetic, comparisons and choices, element by element; shapes are spread as in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from luthier.port.emit import Call, Emit, infix
from luthier.port.registry import Rule, ports
from luthier.port.rules.onnx.arguments import INTEGERS, cast, dtype_of, ints, number, operand, retyped, typed

__all__: list[str] = []

INFIX: Mapping[str, str] = {
    "Add": "+",
    "Equal": "==",
    "Greater": ">",
    "GreaterOrEqual": ">=",
    "Less": "<",
    "LessOrEqual": "<=",
    "Mul": "*",
    "Sub": "-",
}
FUNCTIONS: Mapping[str, str] = {
    "And": "ops.logical_and",
    "BitwiseAnd": "ops.bitwise_and",
    "BitwiseOr": "ops.bitwise_or",
    "BitwiseXor": "ops.bitwise_xor",
    "Or": "ops.logical_or",
    "Xor": "ops.logical_xor",
}


def both(call: Call) -> tuple[Any, Any]:
    """The operands; a number stands as a number beside a tensor."""
    a, b = call["A"], call["B"]
    return operand(a, b), operand(b, a)


def infixed(sign: str) -> Rule:
    """The rule of one row."""

    def written(call: Call) -> Emit:
        """The same operator between two operands."""
        return infix(sign, *both(call))

    return written


def named(target: str) -> Rule:
    """The rule of one row."""

    def written(call: Call) -> Emit:
        """The same function of two operands."""
        return Emit(target, call["A"], call["B"])

    return written


for _operator, _sign in INFIX.items():
    ports(f"onnx.{_operator}")(infixed(_sign))
for _operator, _target in FUNCTIONS.items():
    ports(f"onnx.{_operator}")(named(_target))


@ports("onnx.Neg")
def neg(call: Call) -> Emit:
    """The sign turned."""
    return Emit("unary -", call["X"])


@ports("onnx.Div")
def div(call: Call) -> Emit:
    """Whole numbers are cut towards zero, which is no true division."""
    a, b = both(call)
    dtype = call.outputs[0].dtype
    if dtype.startswith("uint") and dtype != "uint8":  # beside which MindSpore takes no number
        return Emit("ops.floor_divide", call["A"], call["B"])
    if dtype in INTEGERS:
        return Emit("divided", a, b, helpers=("divided",), composed=True)
    return infix("/", a, b)


@ports("onnx.Mod")
def mod(call: Call) -> Emit:
    """With fmod the sign is the dividend's, else the divisor's."""
    return Emit("ops.fmod" if call["fmod"] else "ops.remainder", call["A"], call["B"])


@ports("onnx.Pow")
def power(call: Call) -> Emit:
    """The result has the base's type; a square and a root have their own."""
    x, y = call["X"], call["Y"]
    exponent = operand(y, x)
    if not isinstance(exponent, Emit) and x.dtype == "float32":
        if exponent == 2:
            return Emit("ops.square", x)
        if exponent == 0.5:
            return Emit("ops.sqrt", x)
    if exponent is y and y.dtype != x.dtype:
        power_ = cast(y, y.dtype, "float32") if y.dtype.startswith("uint") else y
        return retyped(Emit("ops.pow", x, power_), x.dtype)
    made = Emit("ops.pow", x, exponent)
    return retyped(made, x.dtype) if x.dtype in INTEGERS and isinstance(exponent, float) else made


@ports("onnx.BitShift")
def bit_shift(call: Call) -> Emit:
    """To the left or to the right."""
    name = "ops.bitwise_left_shift" if call["direction"] == "LEFT" else "ops.bitwise_right_shift"
    if call["X"].dtype.startswith("uint"):
        return Emit(name, call["X"], call["Y"])
    return Emit("shifted", call["X"], call["Y"], call["direction"] == "LEFT", helpers=("shifted",), composed=True)


@ports("onnx.BitwiseNot")
def bitwise_not(call: Call) -> Emit:
    """Every bit turned: all ones, and the number taken out."""
    x = call["X"]
    ones = Emit("ops.full_like", x, -1 if x.dtype.startswith("int") else 2 ** int(x.dtype[4:]) - 1)
    return Emit("ops.bitwise_xor", x, ones, composed=True)


def chained(call: Call, name: str) -> Any:
    """Any number of operands, two at a time."""
    first, *rest = call["data_0"]
    found: Any = first
    for item in rest:
        found = infix("+", found, item) if name == "+" else Emit(name, found, item)
    return found


@ports("onnx.Sum")
def total(call: Call) -> Emit:
    """Any number of operands."""
    found = chained(call, "+")
    return found if isinstance(found, Emit) else Emit("same", found)


@ports("onnx.Mean")
def mean(call: Call) -> Emit:
    """The sum by the count."""
    count = len(call["data_0"])
    return Emit("same", call["data_0"][0]) if count == 1 else infix("/", chained(call, "+"), count, composed=True)


@ports("onnx.Max", "onnx.Min")
def extreme(call: Call) -> Emit:
    """Any number of operands; MindSpore has no kernel for uint16 on a CPU."""
    name = "ops.maximum" if call.operator.endswith("Max") else "ops.minimum"
    dtype = call.outputs[0].dtype
    if dtype == "uint16":
        wide = Call(
            operator=call.operator,
            arguments={"data_0": tuple(Emit(".astype", item, typed("int32")) for item in call["data_0"])},
        )
        return Emit(".astype", chained(wide, name), typed(dtype), composed=True)
    found = chained(call, name)
    return found if isinstance(found, Emit) else Emit("same", found)


@ports("onnx.Where")
def where(call: Call) -> Emit:
    """A choice between two; MindSpore spreads no unsigned numbers of 16 bits or more."""
    x, y = call["X"], call["Y"]
    return Emit("ops.where", call["condition"], operand(x, y), operand(y, x))


@ports("onnx.IsInf")
def is_inf(call: Call) -> Emit:
    """Of either sign, or of one."""
    x = call["X"]
    if call["detect_positive"] and call["detect_negative"]:
        return Emit("ops.isinf", x)
    if not call["detect_positive"] and not call["detect_negative"]:
        return infix("!=", x, x, composed=True)
    return infix("==", x, float("inf") if call["detect_positive"] else float("-inf"))


@ports("onnx.Cast")
def to(call: Call) -> Emit:
    """Truth values become ones and zeros; MindSpore's gradient would go through a whole number."""
    return as_type(call, dtype_of(call["input"]))


def as_type(call: Call, before: str) -> Emit:
    """Nothing where the type stays."""
    after = call.outputs[0].dtype
    value = operand(call["input"])
    if before == after:
        return Emit("same", value)
    made = Emit(".astype", value, typed(after))
    return Emit("ops.stop_gradient", made) if before.startswith("float") and after in INTEGERS else made


@ports("onnx.CastLike")
def cast_like(call: Call) -> Emit:
    """The other's type."""
    return as_type(call, dtype_of(call["input"]))


@ports("onnx.Identity")
def identity(call: Call) -> Emit:
    """The same."""
    return Emit("same", operand(call["input"]))


@ports("onnx.CumSum", "onnx.CumProd")
def cumulated(call: Call) -> Emit:
    """From either end, with or without the number itself."""
    axis = number(call, "axis")
    name = "ops.cumsum" if call.operator.endswith("Sum") else "ops.cumprod"
    x = call["x"] if "x" in call.arguments else call["input"]
    if not call["exclusive"] and not call["reverse"]:
        return retyped(Emit(name, x, axis), x.dtype) if x.dtype in INTEGERS else Emit(name, x, axis)
    one = 0 if name == "ops.cumsum" else 1
    helper = "cumulated"
    return Emit(helper, x, axis, one, bool(call["exclusive"]), bool(call["reverse"]), helpers=(helper,), composed=True)


@ports("onnx.Range")
def arange(call: Call) -> Emit:
    """From the start up to the limit."""
    parts = [number(call, name) for name in ("start", "limit", "delta")]
    ends = parts[1:2] if parts[0] == 0 and parts[2] == 1 else parts[:2]
    made = Emit("ops.arange", *ends) if parts[2] == 1 else Emit("ops.arange", *parts)
    return retyped(made, call.outputs[0].dtype)


@ports("onnx.Shape")
def shape(call: Call) -> Emit:
    """As numbers."""
    return Emit("Tensor", Emit("attribute", call["data"], "shape"), typed("int64"))


@ports("onnx.Trilu")
def trilu(call: Call) -> Emit:
    """The upper or the lower triangle."""
    found = number(call, "k", 0)
    if 0 in call["input"].shape:
        return Emit("same", call["input"])
    return Emit("ops.triu" if call["upper"] else "ops.tril", call["input"], found)


def axes_of(call: Call) -> Any:
    """As a tuple."""
    return ints(call, "axes")
