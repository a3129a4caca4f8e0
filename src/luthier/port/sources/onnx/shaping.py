"""Shapes that follow from open lengths, which ONNX's inference leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from numpy.typing import NDArray

__all__ = ["reshaped"]

Shape = tuple[Any, ...]
Given = Mapping[str, Any]


def reshaped(operator: str, bound: Given, shapes: Mapping[str, Shape], contents: Mapping[str, NDArray[Any]]) -> Any:
    """The first output's shape, where it is one of these operators and something is open."""
    function = OWN.get(operator)
    if function is None:
        return None
    try:
        found = function(bound, shapes, contents)
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    return None if found is None else tuple(map(_plain, found))


def _plain(length: Any) -> Any:
    return int(length) if not isinstance(length, sympy.Expr) or length.is_Integer else length


def _is_open(shape: Shape) -> bool:
    return any(isinstance(length, sympy.Expr) for length in shape)


def _product(lengths: Any) -> Any:
    found = sympy.Integer(1)
    for length in lengths:
        found = found * length
    return found


def _reshape(bound: Given, shapes: Given, contents: Given) -> Any:
    data, wanted = shapes["data"], list(contents["shape"].reshape(-1))
    if not bound.get("allowzero"):
        wanted = [data[i] if length == 0 else length for i, length in enumerate(wanted)]
    if -1 in wanted:
        rest = _product(length for length in wanted if length != -1)
        left = sympy.cancel(_product(data) / rest)
        wanted[wanted.index(-1)] = left if left.is_integer else sympy.floor(left)
    return wanted


def _expand(bound: Given, shapes: Given, contents: Given) -> Any:
    own, wanted = list(shapes["input"]), list(contents["shape"].reshape(-1))
    rank = max(len(own), len(wanted))
    own, wanted = [1] * (rank - len(own)) + own, [1] * (rank - len(wanted)) + wanted
    return [o if w == 1 else w for o, w in zip(own, wanted, strict=True)]


def _filled(bound: Given, shapes: Given, contents: Given) -> Any:
    return list(contents["input"].reshape(-1))


def _tile(bound: Given, shapes: Given, contents: Given) -> Any:
    return [a * b for a, b in zip(shapes["input"], contents["repeats"].reshape(-1), strict=True)]


def _flatten(bound: Given, shapes: Given, contents: Given) -> Any:
    shape = shapes["input"]
    axis = bound["axis"] % len(shape) if bound["axis"] < 0 else bound["axis"]
    return [_product(shape[:axis]), _product(shape[axis:])] if _is_open(shape) else None


def _range(bound: Given, shapes: Given, contents: Given) -> Any:
    start, limit, delta = (contents[name].reshape(-1)[0] for name in ("start", "limit", "delta"))
    if not any(isinstance(item, sympy.Expr) for item in (start, limit, delta)) or delta != 1:
        return None
    return [limit - start]


def _resized(bound: Given, shapes: Given, contents: Given) -> Any:
    shape = shapes["X"]
    sizes = contents.get("sizes")
    axes = bound.get("axes") or tuple(range(len(shape)))
    found = list(shape)
    given = sizes.reshape(-1) if sizes is not None and sizes.size else contents["scales"].reshape(-1)
    for axis, item in zip(axes, given, strict=True):
        if sizes is not None and sizes.size:
            found[axis] = item
        else:
            found[axis] = sympy.floor(shape[axis] * sympy.nsimplify(float(item), rational=True))
    return found if bound.get("keep_aspect_ratio_policy", "stretch") == "stretch" else None


OWN: Mapping[str, Callable[[Given, Given, Given], Any]] = {
    "ConstantOfShape": _filled,
    "Expand": _expand,
    "Flatten": _flatten,
    "Range": _range,
    "Reshape": _reshape,
    "Resize": _resized,
    "Tile": _tile,
}
