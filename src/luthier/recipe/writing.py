"""A recipe as TOML, every default written out."""

from __future__ import annotations

from typing import Any

import msgspec
import tomli_w

from luthier.recipe.records import Recipe

__all__ = ["to_toml"]


def to_toml(recipe: Recipe) -> str:
    """Reading it back gives the same recipe; a field that is None is left out, since TOML has no word for it."""
    return tomli_w.dumps(_without_none(msgspec.to_builtins(recipe)))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
