"""Whether arrays from a file belong to this network, said before the first of them is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from luthier.errors import CheckpointError, nearest

__all__ = ["require_match"]


def require_match(part: str, own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse missing names, names of another network, and other shapes; both values need a `shape` alone."""
    missing = [name for name in own if name not in given]
    extra = [name for name in given if name not in own]
    if missing or extra:
        lack, have = ("lack", "have") if part == "model" else ("lacks", "has")
        told = [f"{lack} {_listed(missing)}" if missing else "", f"{have} {_listed(extra)} besides" if extra else ""]
        subject = "they" if part == "model" else f"the {part}'s state"
        meant = nearest(extra[0], missing) if missing and extra else None
        hint = f"Perhaps '{extra[0]}' is this network's '{meant}'." if meant else None
        raise CheckpointError(
            f"These weights are another network's: {subject} {' and '.join(filter(None, told))}", hint=hint
        )
    for name, value in own.items():
        if tuple(value.shape) != tuple(given[name].shape):
            shapes = f"{_shape(given[name])} in the file, {_shape(value)} in the network"
            raise CheckpointError(f"These weights are another network's: {name} is {shapes}")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _shape(value: Any) -> str:
    return "×".join(str(size) for size in value.shape) or "a single number"
