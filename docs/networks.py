"""The zoo's networks from their signatures, and the initialisers."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

import msgspec

from docs.records import sentence_of
from docs.tables import code, table
from docs.types import kind_text, limits_text, toml
from docs.words import HEADS, TYPES, Language, said
from luthier.strategy import initializers
from luthier.zoo.options import GIVEN
from luthier.zoo.registry import factory_of

__all__ = ["initializer_table", "network_section"]


def network_section(what: str, language: Language) -> str:
    """What a network says of itself, and a table of its options; several names are one family with one signature."""
    names = what.split()
    factory = factory_of(names[0])
    if any(inspect.signature(factory_of(name)) != inspect.signature(factory) for name in names):
        raise ValueError(f"{what} have not one signature")
    paragraphs = [" ".join(part.split()) for part in (inspect.getdoc(factory) or "").split("\n\n")]
    text = "\n\n".join(said(part, language) for part in paragraphs)
    return f"{text}\n\n{table([HEADS[language]['options'], *_rows(factory, language)])}"


def _rows(factory: Any, language: Language) -> list[list[str]]:
    hints = get_type_hints(factory, include_extras=True)
    parameters = [item for item in inspect.signature(factory).parameters.values() if item.name not in GIVEN]
    return [
        [code(item.name), _kind(hints[item.name], language), _default(item.default, language)] for item in parameters
    ]


def _kind(hint: Any, language: Language) -> str:
    kind = msgspec.inspect.type_info(hint)
    limits = limits_text(kind, language)
    return f"{kind_text(kind, language)}{f', {limits}' if limits else ''}"


def _default(value: Any, language: Language) -> str:
    if value is inspect.Parameter.empty:
        return TYPES[language]["required"]
    return "–" if value is None else code(toml(value))


def initializer_table(language: Language) -> str:
    """Each with the distribution that it draws from."""
    rows = [[code(name), said(sentence_of(rule), language)] for name, rule in initializers.INITIALIZERS.items()]
    return table([HEADS[language]["initializers"], *rows])
