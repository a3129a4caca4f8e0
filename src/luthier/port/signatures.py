"""MindSpore's own argument names, order and defaults, read from MindSpore itself."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any

__all__ = ["REQUIRED", "defaults", "positional"]

REQUIRED = object()


@cache
def _parameters(target: str) -> Mapping[str, Any]:
    """Each argument and its default; nothing where the target is not MindSpore's."""
    import mindspore

    space, _, name = target.partition(".")
    home = {"nn": mindspore.nn, "ops": mindspore.ops, "ms": mindspore, "mint": mindspore.mint}.get(space)
    found = getattr(home, name, None) if home and name else None
    if found is None and target == "Parameter":
        found = mindspore.Parameter
    if found is None:
        return {}
    try:
        signature = inspect.signature(found.__init__ if inspect.isclass(found) else found)
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name: REQUIRED if item.default is item.empty else item.default
        for name, item in signature.parameters.items()
        if name != "self" and item.kind not in kinds
    }


def defaults(target: str) -> Mapping[str, Any]:
    """The arguments that need not be written, with what they are then."""
    return {name: value for name, value in _parameters(target).items() if value is not REQUIRED}


def positional(target: str) -> tuple[str, ...]:
    """The leading arguments that must be written, and are clear without their names."""
    found = []
    for name, value in _parameters(target).items():
        if value is not REQUIRED:
            break
        found.append(name)
    return tuple(found)
