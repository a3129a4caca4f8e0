"""From TOML to a recipe: parsed, overridden, converted strictly, checked as a whole."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from luthier.errors import RecipeError
from luthier.recipe.checking import check
from luthier.recipe.faults import explained
from luthier.recipe.overrides import apply
from luthier.recipe.records import Recipe

__all__ = ["from_raw", "parse", "read"]


def read(path: Path | str, overrides: Iterable[str] = ()) -> Recipe:
    """The recipe in a TOML file; its name is the file's unless it gives one."""
    path = Path(path)
    try:
        text = path.read_text("utf-8-sig")  # as some editors save it
    except FileNotFoundError:
        raise RecipeError(f"No recipe file {path}", hint="See the shipped ones: luthier recipe list") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(f"Cannot read the recipe: {error}", at=str(path)) from error
    return parse(text, place=path.name, name=path.stem, overrides=overrides)


def parse(text: str, *, place: str, name: str = "", overrides: Iterable[str] = ()) -> Recipe:
    """The recipe in a text; `place` is what errors call it."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"Not TOML: {error}", at=place) from None
    raw.setdefault("name", name)
    return from_raw(apply(raw, overrides), place=place)


def from_raw(raw: dict[str, Any], *, place: str) -> Recipe:
    """The recipe that plain dictionaries and lists describe."""
    try:
        recipe = msgspec.convert(raw, Recipe)
    except msgspec.ValidationError as error:
        raise explained(error, raw, place) from None
    check(recipe, place)
    return recipe
