"""What a node gives where its inputs are lengths: the arithmetic by which exporters compute shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

__all__ = ["CONTENTS", "computed"]

Content = NDArray[Any]
Bound = Mapping[str, Any]


def computed(operator: str, bound: Bound, contents: Mapping[str, Any]) -> Content | None:
    """The content by the inputs' contents; none where that cannot be told."""
    function = CONTENTS.get(operator)
    if function is None:
        return None
    try:
        found = function(bound, contents)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError):
        return None
    return None if found is None else np.array(found, dtype=object)


def _plain(operation: Callable[..., Any]) -> Callable[[Bound, Bound], Any]:
    def applied(bound: Bound, contents: Bound) -> Any:
        return operation(contents["A"], contents["B"])

    return applied


def _divided(bound: Bound, contents: Bound) -> Any:
    """Whole numbers are cut; a product is divided exactly where that is possible."""
    whole = bound["dtype"].startswith(("int", "uint"))

    def one(a: Any, b: Any) -> Any:
        quotient = sympy.sympify(a) / sympy.sympify(b)
        if not whole:
            return quotient
        return quotient if quotient.is_integer else sympy.floor(quotient)

    return np.frompyfunc(one, 2, 1)(contents["A"], contents["B"])


def _cast(bound: Bound, contents: Bound) -> Any:
    if bound["dtype"].startswith(("int", "uint")):
        return np.frompyfunc(lambda a: a if sympy.sympify(a).is_integer else sympy.floor(a), 1, 1)(contents["input"])
    return contents["input"] if bound["dtype"].startswith("float") else None


def _sliced(bound: Bound, contents: Bound) -> Any:
    data = contents["data"]
    starts, ends = _whole(bound, contents, "starts") or (), _whole(bound, contents, "ends") or ()
    axes = _whole(bound, contents, "axes") or tuple(range(len(starts)))
    steps = _whole(bound, contents, "steps") or (1,) * len(starts)
    keys = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        last = None if step < 0 and end < -data.shape[axis] else end
        keys[axis] = slice(start, last, step)
    return data[tuple(keys)]


def _whole(bound: Bound, contents: Bound, name: str) -> tuple[int, ...] | None:
    """From an input or from an attribute, whichever the revision has."""
    if name in contents:
        return tuple(int(item) for item in contents[name].reshape(-1))
    return bound.get(name) if isinstance(bound.get(name), tuple) else None


def _squeezed(bound: Bound, contents: Bound) -> Any:
    axes = _whole(bound, contents, "axes")
    return np.squeeze(contents["data"], axes)


def _unsqueezed(bound: Bound, contents: Bound) -> Any:
    axes = _whole(bound, contents, "axes")
    return None if axes is None else np.expand_dims(contents["data"], axes)


def _product(bound: Bound, contents: Bound) -> Any:
    found = sympy.Integer(1)
    for item in contents["data"].reshape(-1):
        found = found * item
    return np.array([found]) if bound.get("keepdims", 1) else np.array(found)


def _where(bound: Bound, contents: Bound) -> Any:
    return np.where(contents["condition"].astype(bool), contents["X"], contents["Y"])


def _equal(bound: Bound, contents: Bound) -> Any:
    def one(a: Any, b: Any) -> bool:
        same = sympy.sympify(a) - sympy.sympify(b)
        if same == 0:
            return True
        if same.is_nonzero or same.is_positive or same.is_negative or -1 in (a, b):
            return False
        raise ValueError("not known")

    return np.frompyfunc(one, 2, 1)(contents["A"], contents["B"])


def _filled(bound: Bound, contents: Bound) -> Any:
    shape = tuple(int(item) for item in contents["input"].reshape(-1))
    value = bound.get("value")
    return np.full(shape, 0 if value is None else value.reshape(-1)[0].item(), dtype=object)


def _expanded(bound: Bound, contents: Bound) -> Any:
    shape = tuple(int(item) for item in contents["shape"].reshape(-1))
    return np.broadcast_to(contents["input"], np.broadcast_shapes(shape, contents["input"].shape))


def _reshaped(bound: Bound, contents: Bound) -> Any:
    return contents["data"].reshape(tuple(int(item) for item in contents["shape"].reshape(-1)))


CONTENTS: Mapping[str, Callable[[Bound, Bound], Any]] = {
    "Add": _plain(np.add),
    "Cast": _cast,
    "Ceil": lambda bound, contents: np.frompyfunc(sympy.ceiling, 1, 1)(contents["X"]),
    "Concat": lambda bound, contents: np.concatenate(contents["inputs"], bound["axis"]),
    "ConstantOfShape": _filled,
    "Div": _divided,
    "Equal": _equal,
    "Expand": _expanded,
    "Floor": lambda bound, contents: np.frompyfunc(sympy.floor, 1, 1)(contents["X"]),
    "Gather": lambda bound, contents: np.take(contents["data"], contents["indices"].astype(int), bound["axis"]),
    "Identity": lambda bound, contents: contents["input"],
    "Mul": _plain(np.multiply),
    "ReduceProd": _product,
    "Reshape": _reshaped,
    "Slice": _sliced,
    "Squeeze": _squeezed,
    "Sub": _plain(np.subtract),
    "Unsqueeze": _unsqueezed,
    "Where": _where,
}
