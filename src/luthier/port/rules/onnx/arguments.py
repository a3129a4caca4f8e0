"""What an argument is: numbers that the file has, lengths, or a tensor that comes as the network runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from luthier.port.emit import Call, Emit, Name, Unsupported
from luthier.port.graph import Size, Value
from luthier.port.known import Known

__all__ = [
    "INTEGERS",
    "REALS",
    "array",
    "cast",
    "dtype_of",
    "ints",
    "is_number",
    "known",
    "number",
    "operand",
    "retyped",
    "typed",
]

REALS = ("float16", "float32", "float64", "bfloat16")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
STUBBORN = ("uint16", "uint32", "uint64", "bfloat16", "bool_")  # of which MindSpore takes no Python number


def known(value: Any) -> bool:
    """Whether it is told while the file is read."""
    return not isinstance(value, Value) or (isinstance(value, Known) and value.content is not None)


def ints(call: Call, name: str) -> Any:
    """A tuple; none where it is not given; where it comes as the network runs, an expression of a tuple."""
    value = call.arguments.get(name)
    if isinstance(value, Known):
        if value.content is None:
            return Emit("ints", value, helpers=("ints",), composed=True)
        return tuple(int(item) for item in value.content.reshape(-1))
    if isinstance(value, int | Size) and not isinstance(value, bool):
        return (value,)
    return value


def number(call: Call, name: str, default: Any = None) -> Any:
    """One number, or an expression of one."""
    value = call.arguments.get(name)
    if isinstance(value, Known):
        if value.content is None:
            return Emit("number", value, helpers=("number",), composed=True)
        return plain(value) if value.content.size else default
    if isinstance(value, tuple) and len(value) == 1:
        return value[0]
    return default if value is None else value


def plain(value: Known) -> Any:
    """The one number that it holds, a float as short as its type lets it be."""
    assert value.content is not None
    item = value.content.reshape(-1)[0]
    if value.dtype in REALS:
        return float(item) if value.dtype == "float64" else float(str(np.float32(item)))
    return item.item()


def array(call: Call, name: str) -> Any:
    """The content of a constant; what is none is refused."""
    value = call.arguments.get(name)
    if not isinstance(value, Known) or value.content is None:
        raise Unsupported(
            f"{call.operator} whose '{name}' is computed as the network runs has no rule",
            at=call.at,
            hint="Make it a constant of the file.",
        )
    return value.content


def is_number(value: Any) -> bool:
    """Whether it is written as a number."""
    return isinstance(value, Known) and value.content is not None and value.content.size == 1


def operand(value: Any, other: Any = None, *, literal: bool = True) -> Any:
    """A number where it is one and changes neither shape nor type; lengths as a tensor."""
    if isinstance(value, Size):
        return value
    if isinstance(value, tuple):
        return Emit("Tensor", value, Name("ms.int64"))
    beside = isinstance(other, Value) and other.rank >= value.rank if isinstance(value, Value) else False
    if literal and is_number(value) and beside and not value.is_parameter and value.dtype not in STUBBORN:
        found = plain(value)
        if not (isinstance(found, float) and not math.isfinite(found)):
            return found
    return value


def dtype_of(value: Any) -> str:
    """Of a tensor; lengths are int64."""
    return value.dtype if isinstance(value, Value) else "int64"


def typed(dtype: str) -> Name:
    """As MindSpore names it."""
    return Name(f"ms.{dtype}")


def cast(tree: Any, before: str, after: str) -> Any:
    """The expression in another type, or as it is."""
    return tree if before == after else Emit(".astype", tree, typed(after))


def retyped(tree: Any, dtype: str) -> Emit:
    """The expression in this type, whatever it was."""
    return Emit(".astype", tree, typed(dtype))
