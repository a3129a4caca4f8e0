"""Two recipes side by side: only what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from luthier.recipe.records import Recipe

__all__ = ["differences", "flattened"]


def flattened(recipe: Recipe) -> dict[str, Any]:
    """Every field under its dotted path; a list stays whole, since its items have no names."""
    flat: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Mapping) and value:
            for name, item in value.items():
                walk(item, f"{path}.{name}" if path else name)
        else:
            flat[path] = value

    walk(msgspec.to_builtins(recipe), "")
    return flat


def differences(recipes: Sequence[Recipe]) -> dict[str, list[Any]]:
    """The fields in which the recipes are not all alike, with the value in each; None where it lacks the field."""
    flat = [flattened(recipe) for recipe in recipes]
    paths = dict.fromkeys(path for fields in flat for path in fields)
    rows = {path: [fields.get(path) for fields in flat] for path in paths}
    return {path: values for path, values in rows.items() if any(value != values[0] for value in values[1:])}
