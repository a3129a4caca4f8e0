"""What no number of a recipe may be: infinite, or so great that no machine holds what follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from luthier.errors import RecipeError
from luthier.recipe.records import Recipe

__all__ = ["require_numbers"]

MOST = {  # by the field's own name
    "epochs": 1_000_000,
    "steps": 50_000_000,
    "size": 16_384,
    "padding": 16_384,
    "newton_schulz_steps": 100,
    "workers": 1_024,
    "threads": 1_024,
    "runs": 1_000_000,
    "warmup": 1_000_000,
    "images": 10_000,
    "seed": 2**32 - 1,
}
ELSEWHERE = 1_000_000_000


def require_numbers(recipe: Recipe, place: str) -> None:
    """A network's own options are the network's to judge, but for infinities."""
    for path, value in _numbers(msgspec.to_builtins(recipe), ""):
        field = path.rpartition(".")[2]
        if isinstance(value, float) and not math.isfinite(value):
            raise RecipeError(f"Expected a finite number, got {value}", at=f"{path} in {place}")
        most = MOST.get(field, ELSEWHERE)
        if isinstance(value, int) and value > most and not path.startswith("model.options."):
            raise RecipeError(f"Expected at most {most:,}, got {value:,}", at=f"{path} in {place}")


def _numbers(value: Any, path: str) -> Iterator[tuple[str, int | float]]:
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    else:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield path, value
        return
    for name, item in items:
        yield from _numbers(item, f"{path}.{name}" if path else str(name))
