"""Tables of the typed records: field, type, limits, default, and what its comment says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
from msgspec.inspect import Field as RecordField

import luthier.recipe as recipe
from docs.tables import code, table
from docs.types import default_text, kind_text, limits_text
from docs.words import ADDED, HEADS, Language, said
from luthier.recipe.meanings import meanings, own_bases
from luthier.store import Latency, Result
from luthier.strategy import schedules

__all__ = ["field_table", "fields_of", "kind_table", "result_table", "sentence_of"]

FORMULA = re.compile(r"(?P<formula>(?:lr|end)[^,]*?)(?:, |\.$)(?P<words>.*)$")

KINDS: Mapping[str, tuple[Any, ...]] = {
    "optimizers": get_args(recipe.Optimizer),
    "schedules": get_args(recipe.Schedule),
    "transforms": get_args(recipe.Transform),
}


@dataclass(frozen=True, kw_only=True)
class Field:
    """One row; `meaning` is English."""

    record: RecordField
    meaning: str


def fields_of(kind: type[msgspec.Struct]) -> list[Field]:
    """The record's fields in its order, with the comment behind each, or where it has none what the manual adds."""
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    known = meanings(kind)
    return [Field(record=field, meaning=known.get(field.name) or _added(kind, field.name)) for field in info.fields]


def _added(kind: type, name: str) -> str:
    for owner in reversed(own_bases(kind)):
        if sentence := ADDED.get(f"{owner.__name__}.{name}"):
            return sentence
    return ""


def sentence_of(kind: Any) -> str:
    """What a class or function says of itself, on one line."""
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def field_table(what: str, language: Language) -> str:
    """The fields of one of the recipe's sections, or of what all kinds of a table share."""
    kind = getattr(recipe, what, None) or _shared(what)
    section = "" if kind is recipe.Recipe else f"{what.lower()}."
    rows = [
        [
            code(field.record.name),
            kind_text(field.record.type, language),
            limits_text(field.record.type, language),
            default_text(field.record, language, section=section),
            said(field.meaning, language),
        ]
        for field in fields_of(kind)
    ]
    return table([HEADS[language]["fields"], *rows])


def _shared(what: str) -> Any:
    """`ScheduleRecord` and `OptimizerRecord` are no part of the package's door: they are what the kinds derive from."""
    kinds = [base for group in KINDS.values() for kind in group for base in kind.__mro__]
    return next(kind for kind in kinds if kind.__name__ == what)


def kind_table(what: str, language: Language) -> str:
    """The kinds that a table's `name` can mean, each with the fields of its own."""
    head = HEADS[language]["schedules" if what == "schedules" else "kinds"]
    return table([head, *(_kind_row(kind, what, language) for kind in KINDS[what])])


def _kind_row(kind: Any, what: str, language: Language) -> list[str]:
    shared = {name for base in own_bases(kind)[:-1] for name in base.__struct_fields__}
    own = [field for field in fields_of(kind) if field.record.name not in shared or _redefined(kind, field)]
    options = "<br>".join(_option(field, language) for field in own)
    formula = [_formula(sentence_of(schedules.curve.dispatch(kind)), language)] if what == "schedules" else []
    return [code(kind.__struct_config__.tag), *formula, said(sentence_of(kind), language), options]


def _formula(sentence: str, language: Language) -> str:
    """What is a formula as code, and the words behind it as words."""
    found = FORMULA.match(sentence)
    if found is None:
        return said(sentence, language)
    comma = "，" if language == "zh" else ", "
    return code(found["formula"]) + (f"{comma}{said(found['words'], language)}" if found["words"] else "")


def _redefined(kind: type, field: Field) -> bool:
    return field.record.name in vars(kind).get("__annotations__", {})


def _option(field: Field, language: Language) -> str:
    limits = limits_text(field.record.type, language)
    meaning = said(field.meaning, language)
    opening, closing = ("（", "）") if language == "zh" else (" (", ")")
    return (
        f"{code(field.record.name)} = {default_text(field.record, language)}"
        + (f"{opening}{limits}{closing}" if limits else "")
        + ((": " if language == "en" else "：") + meaning if meaning else "")
    )


def result_table(language: Language) -> str:
    """The fields of result.json, and of how its latency was taken."""
    kinds = ((Result, ""), (Latency, "latency."))
    rows = [
        [
            code(f"{prefix}{field.record.name}"),
            kind_text(field.record.type, language, absent="null"),
            said(field.meaning, language),
        ]
        for kind, prefix in kinds
        for field in fields_of(kind)
    ]
    return table([HEADS[language]["result"], *rows])
