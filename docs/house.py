"""How the house is built: its packages, the events, the tree of errors."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import luthier
from docs.records import sentence_of
from docs.tables import code, table
from docs.words import HEADS, Language, said
from luthier import errors, training
from luthier.training.listeners import METHODS

__all__ = ["error_tree", "event_table", "package_table"]

SOURCE = Path(luthier.__file__).parent


def package_table(language: Language) -> str:
    """Every package, with the first sentence at its door."""
    packages = sorted(path.parent for path in SOURCE.glob("*/__init__.py"))
    rows = [[code(package.name), said(_first_sentence(package), language)] for package in packages]
    return table([HEADS[language]["packages"], *rows])


def _first_sentence(package: Path) -> str:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def event_table(language: Language) -> str:
    """Each event, the method that hears it, what it carries, and when it comes."""
    rows = []
    for method, event in METHODS.items():
        fields = [field.name for field in dataclasses.fields(event) if field.name != "training"]
        rows.append(
            [code(event.__name__), code(method), ", ".join(map(code, fields)), said(sentence_of(event), language)]
        )
    shared = said(sentence_of(training.Event), language)
    return f"{table([HEADS[language]['events'], *rows])}\n\n{shared}"


def error_tree() -> str:
    """As the module's docstring draws it."""
    drawn = re.search(r"^LuthierError\n(?:[├│└].*\n?)+", errors.__doc__ or "", re.MULTILINE)
    assert drawn is not None
    return f"```text\n{drawn[0].rstrip()}\n```"
