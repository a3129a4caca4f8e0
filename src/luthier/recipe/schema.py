"""The JSON Schema of a recipe, for editors that complete and check TOML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, inspect

from luthier.recipe.meanings import meanings
from luthier.recipe.records import Recipe

__all__ = ["json_schema"]


def json_schema() -> dict[str, Any]:
    """Draft 2020-12, with every section, default and limit, and what each field means."""
    schema = msgspec.json.schema(Recipe)
    for record in _records(Recipe):
        properties = schema["$defs"][record.__name__]["properties"]
        for field, meaning in meanings(record).items():
            properties[field] = properties[field] | {"description": meaning}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Luthier recipe",
    } | schema


def _records(root: type[Struct]) -> set[type[Struct]]:
    """The record, and every one that its fields can hold."""
    found = {root}
    waiting = [inspect.type_info(root)]
    while waiting:
        for inner in _inside(waiting.pop()):
            if not isinstance(inner, inspect.StructType):
                waiting.append(inner)
            elif inner.cls not in found:
                found.add(inner.cls)
                waiting.append(inner)
    return found


def _inside(kind: inspect.Type) -> Iterator[inspect.Type]:
    match kind:
        case inspect.StructType(fields=fields):
            yield from (field.type for field in fields)
        case inspect.UnionType(types=types):
            yield from types
        case inspect.Metadata(type=inner) | inspect.VarTupleType(item_type=inner):
            yield inner
