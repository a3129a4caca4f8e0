"""The types, limits and defaults of a record's fields in words."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect
from msgspec.inspect import Field, Type

from docs.tables import code
from docs.words import ITEMS, TABLES, TYPES, Language

__all__ = ["default_text", "kind_text", "limits_text", "toml"]


def bare(kind: Type) -> Type:
    """Without what only describes it."""
    return bare(kind.type) if isinstance(kind, inspect.Metadata) else kind


def kind_text(kind: Type, language: Language, *, absent: str = "none") -> str:
    """`whole number`, a list of choices, and so on; `absent` is the word for a value that may be missing."""
    words = TYPES[language]
    match bare(kind):
        case inspect.BoolType():
            return words["bool"]
        case inspect.IntType():
            return words["int"]
        case inspect.FloatType():
            return words["float"]
        case inspect.StrType():
            return words["str"]
        case inspect.LiteralType(values=values):
            return " · ".join(code(str(value)) for value in values)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            return words["list"].format(_item_text(bare(item), language))
        case inspect.TupleType(item_types=items):
            return words["tuple"].format(len(items))
        case inspect.UnionType(types=types):
            return _union_text([bare(item) for item in types], language, absent)
        case _:
            return words["table"]


def _item_text(item: Type, language: Language) -> str:
    if isinstance(item, inspect.LiteralType):
        return kind_text(item, language)
    return ITEMS[language].get(type(item).__name__, TABLES[language])


def _union_text(types: list[Type], language: Language, absent: str) -> str:
    known = [item for item in types if not isinstance(item, inspect.NoneType)]
    if all(isinstance(item, inspect.StructType) for item in known):
        text = TYPES[language]["table"]
    else:
        text = TYPES[language]["or"].join(kind_text(item, language) for item in known)
    return text if len(known) == len(types) else f"{text}{TYPES[language][absent]}"


def limits_text(kind: Type, language: Language) -> str:
    """`> 0`, `≥ 0, < 1`; of a list, its items'."""
    match bare(kind):
        case inspect.IntType() | inspect.FloatType() as number:
            signs = (("≥", number.ge), (">", number.gt), ("≤", number.le), ("<", number.lt))
            return ", ".join(f"{sign}\N{NO-BREAK SPACE}{limit:.12g}" for sign, limit in signs if limit is not None)
        case inspect.StrType(min_length=length) if length:
            return TYPES[language]["not empty"]
        case inspect.VarTupleType(item_type=item):
            return limits_text(item, language)
        case inspect.UnionType(types=types):
            return next(filter(None, (limits_text(item, language) for item in types)), "")
        case _:
            return ""


def default_text(field: Field, language: Language, *, section: str = "") -> str:
    """As TOML has it; a table of its own is referred to by its full name, with that of the section around it."""
    if field.default_factory is not msgspec.NODEFAULT:
        value: Any = field.default_factory()
    elif field.default is not msgspec.NODEFAULT:
        value = field.default
    else:
        return TYPES[language]["required"]
    if value is None:
        return "–"
    if isinstance(value, msgspec.Struct):
        tag = value.__struct_config__.tag
        return code(f'"{tag}"') if tag else code(f"[{section}{field.name}]")
    return code(toml(msgspec.to_builtins(value)))


def toml(value: Any) -> str:
    """A value on one line."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case float():
            return f"{value:.12g}" if value != int(value) or abs(value) > 1e6 else f"{value:.1f}"
        case dict():
            pairs = [f"{key} = {toml(item)}" for key, item in value.items() if item is not None]
            return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
        case _:
            return str(value)
