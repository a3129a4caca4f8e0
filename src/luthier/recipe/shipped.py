"""The recipes in the package, and the one way from a name or a path to a recipe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from luthier.errors import RecipeError, unknown
from luthier.recipe.reading import parse, read
from luthier.recipe.records import Recipe

__all__ = ["load", "shipped", "shipped_text"]


def shipped() -> list[str]:
    """The names of the shipped recipes."""
    folder = files("luthier.recipes")
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml"))


def shipped_text(name: str) -> str:
    """A shipped recipe as its author wrote it, with the comments on where it comes from and where it deviates."""
    if name not in shipped():
        sentence, hint = unknown("recipe", name, shipped())
        raise RecipeError(sentence, hint=f"{hint} Or give the path of a .toml file.")
    return files("luthier.recipes").joinpath(f"{name}.toml").read_text("utf-8")


def load(source: str | Path | Recipe, overrides: Iterable[str] = ()) -> Recipe:
    """A shipped name, a TOML file, a run's folder (which holds its recipe), or a recipe itself; then the overrides."""
    if isinstance(source, Recipe):
        from luthier.recipe.overrides import override

        return override(source, overrides)
    path = Path(source)
    # Unlike Path's, os.path's questions are answered with no where a folder may not be read or a name is too long.
    if os.path.isfile(path / "recipe.toml"):
        return read(path / "recipe.toml", overrides)
    if path.suffix == ".toml" or os.path.isfile(path):
        return read(path, overrides)
    return parse(shipped_text(str(source)), place=f"{source}.toml", name=str(source), overrides=overrides)
