"""msgspec's faults in our words: what was expected, what stands there, where, and what was likely meant."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import msgspec
from msgspec import inspect

from luthier.errors import RecipeError, nearest
from luthier.recipe.comparing import flattened
from luthier.recipe.records import Recipe

__all__ = ["explained"]

UNKNOWN_FIELD = re.compile(r"unknown field `(?P<field>[^`]*)`")
PATH = re.compile(r" - at `(?:key in )?\$(?P<path>[^`]*)`$")

BARE_POINT = re.compile(r"[=,\[]\s*-?\.\d")


def explained(error: msgspec.ValidationError, raw: dict[str, Any], place: str) -> RecipeError:
    """The same fault as a sentence with the recipe's own path."""
    text = str(error)
    found = PATH.search(text)
    steps = _steps(found["path"]) if found else []
    unknown = UNKNOWN_FIELD.search(text)
    if unknown:
        return _unknown_field(unknown["field"], steps, raw, place)
    kind, value = _look_up(steps, raw)
    at = f"{'.'.join(steps)} in {place}" if steps else place
    if isinstance(kind, inspect.UnionType) and _tagged(kind):
        return _wrong_kind(kind, value, at)
    if kind is None:
        return RecipeError(PATH.sub("", text).replace("`", "'"), at=at)
    if fault := _not_toml(kind, value):
        hint = "A number begins with a digit: 0.3 in place of .3" if BARE_POINT.search(value) else None
        return RecipeError(f"Not TOML: {fault}, in {value}", at=at, hint=hint)
    sentence = f"Expected {_described(kind)}, got {_shown(value)}"
    return RecipeError(sentence, at=at, hint=_meant(kind, value))


def _not_toml(kind: inspect.Type, value: Any) -> str | None:
    """What stands for a list or a table, begins as one and is text all the same: what TOML says of it."""
    if isinstance(kind, inspect.StrType) or not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return None
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError as error:
        return str(error).partition(" (at line 1")[0]
    return "a list or a table stands in quotes"


def _steps(path: str) -> list[str]:
    return [step for step in re.split(r"[.\[\]]+", path) if step and step != "..."]


def _unknown_field(field: str, steps: list[str], raw: dict[str, Any], place: str) -> RecipeError:
    kind, value = _look_up(steps, raw)
    struct = _struct(kind, value)
    known = [item.encode_name for item in struct.fields] if struct else []
    table = ".".join(steps)
    full = f"{table}.{field}" if table else field
    prefix = f"{table}." if table else ""
    meant = nearest(field, known)
    path = f"{prefix}{meant}" if meant else _elsewhere(field)
    hint = f"Perhaps you meant '{path}'." if path else f"Known there: {', '.join(known)}."
    return RecipeError(f"Unknown field '{full}'", at=place, hint=hint)


def _elsewhere(field: str) -> str | None:
    """The field of that name in another section: seed is strategy.seed."""
    return next((path for path in flattened(Recipe()) if path.rpartition(".")[2] == field), None)


def _wrong_kind(kind: inspect.UnionType, value: Any, at: str) -> RecipeError:
    tags = _tagged(kind)
    name = value.get("name") if isinstance(value, dict) else value
    if name is None:
        return RecipeError(f"Expected a name, one of {', '.join(tags)}", at=at)
    meant = nearest(str(name), tags)
    hint = f"Perhaps you meant '{meant}'." if meant else f"Known: {', '.join(tags)}."
    return RecipeError(f"Unknown name {_shown(name)}", at=at, hint=hint)


def _tagged(kind: inspect.UnionType) -> list[str]:
    return [str(item.tag) for item in kind.types if isinstance(item, inspect.StructType) and item.tag is not None]


def _struct(kind: inspect.Type | None, value: Any) -> inspect.StructType | None:
    if isinstance(kind, inspect.StructType):
        return kind
    if isinstance(kind, inspect.UnionType):
        name = value.get("name") if isinstance(value, dict) else None
        for item in kind.types:
            if isinstance(item, inspect.StructType) and item.tag in (name, None):
                return item
    return None


def _look_up(steps: list[str], raw: Any) -> tuple[inspect.Type | None, Any]:
    """The type that the recipe has at a path, and the value that stands there; the tag itself belongs to its table."""
    kind: inspect.Type | None = inspect.type_info(Recipe)
    value: Any = raw
    for step in steps:
        if isinstance(kind, inspect.UnionType) and step == "name":
            return kind, value
        kind = _inner_type(kind, value, step)
        value = _inner_value(value, step)
    return kind, value


def _inner_value(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None


def _inner_type(kind: inspect.Type | None, value: Any, step: str) -> inspect.Type | None:
    struct = _struct(kind, value)
    if struct:
        return next((_bare(item.type) for item in struct.fields if item.encode_name == step), None)
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        return _bare(kind.item_type)
    if isinstance(kind, inspect.TupleType) and step.isdigit():
        return _bare(kind.item_types[int(step)])
    return None


def _bare(kind: inspect.Type) -> inspect.Type:
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def _meant(kind: inspect.Type, value: Any) -> str | None:
    choices = _choices(kind)
    meant = nearest(value, choices) if isinstance(value, str) and choices else None
    return f"Perhaps you meant '{meant}'." if meant else None


def _choices(kind: inspect.Type) -> list[str]:
    if isinstance(kind, inspect.LiteralType):
        return [str(item) for item in kind.values]
    if isinstance(kind, inspect.UnionType):
        return [choice for item in kind.types for choice in _choices(_bare(item))]
    return []


def _described(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType():
            kinds = [_bare(item) for item in kind.types]
            told = [_described(item) for item in kinds if not isinstance(item, inspect.NoneType)]
            return " or ".join(dict.fromkeys(told))
        case inspect.LiteralType():
            return "one of " + ", ".join(f"'{item}'" for item in kind.values)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number" + _limits(kind)
        case inspect.FloatType():
            return "a number" + _limits(kind)
        case inspect.StrType():
            return "text that is not empty" if kind.min_length else "text"
        case inspect.VarTupleType() | inspect.ListType():
            return f"a list, each item {_described(_bare(kind.item_type))}"
        case inspect.TupleType():
            return f"a list of {len(kind.item_types)} items"
        case _:
            return "a table"


def _limits(kind: inspect.IntType | inspect.FloatType) -> str:
    low = f" above {kind.gt:,}" if kind.gt is not None else f" of at least {kind.ge:,}" if kind.ge is not None else ""
    high = f" below {kind.lt:,}" if kind.lt is not None else f" of at most {kind.le:,}" if kind.le is not None else ""
    return " and".join(part for part in (low, high) if part)
