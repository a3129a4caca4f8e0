"""`--set strategy.epochs=50`: the one way to change a recipe without writing another file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any, get_args

import msgspec

from luthier.errors import RecipeError
from luthier.recipe.optimizers import Optimizer
from luthier.recipe.records import Recipe
from luthier.recipe.schedules import Schedule

__all__ = ["apply", "override"]

KINDS: dict[str, Any] = {"strategy.optimizer": Optimizer, "strategy.schedule": Schedule}


def override(recipe: Recipe, overrides: Iterable[str]) -> Recipe:
    """The recipe with `a.b=c` applied, checked as if it had been read so."""
    from luthier.recipe.reading import from_raw

    overrides = list(overrides)
    return from_raw(apply(msgspec.to_builtins(recipe), overrides), place=recipe.name) if overrides else recipe


def apply(raw: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """The raw recipe with each `a.b=c` set; a value is TOML where it parses as such and plain text elsewhere."""
    for text in overrides:
        path, equals, value = text.partition("=")
        if not equals or not path.strip():
            raise RecipeError(f"Expected field=value, got '{text}'", at="--set", hint="Such as strategy.epochs=50.")
        _set(raw, path.strip(), _value(value.strip()))
    return raw


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _set(raw: dict[str, Any], path: str, value: Any) -> None:
    if path in KINDS and isinstance(value, str):  # strategy.schedule=square means its name
        path, value = f"{path}.name", value
    table, *_, field = path.rpartition(".")
    if field == "name" and table in KINDS:
        _change_kind(raw, table, value)
        return
    target: Any = raw
    *way, last = path.split(".")
    for step in way:
        target = _inside(target, step, path)
    if isinstance(target, list):
        target[_index(target, last, path)] = value
    else:
        target[last] = value


def _inside(target: Any, step: str, path: str) -> Any:
    if isinstance(target, list):
        return target[_index(target, step, path)]
    inner = target.setdefault(step, {})
    if not isinstance(inner, dict | list):
        raise RecipeError(f"'{step}' is a value and has no fields", at=f"--set {path}")
    return inner


def _index(items: list[Any], step: str, path: str) -> int:
    if not step.isdigit() or int(step) >= len(items):
        raise RecipeError(f"Expected a position from 0 to {len(items) - 1}, got '{step}'", at=f"--set {path}")
    return int(step)


def _change_kind(raw: dict[str, Any], table: str, name: Any) -> None:
    """Another optimizer or schedule keeps the fields it shares with the old one, and has its own defaults elsewhere."""
    kinds = {kind.__struct_config__.tag: kind for kind in get_args(KINDS[table])}
    *way, last = table.split(".")
    parent: Any = raw
    for step in way:
        parent = _inside(parent, step, table)
    old = parent.get(last, {})
    old = old if isinstance(old, dict) else {}
    shared = kinds[name].__struct_fields__ if isinstance(name, str) and name in kinds else tuple(old)
    parent[last] = {"name": name} | {
        field: value for field, value in old.items() if field in shared and field != "name"
    }
