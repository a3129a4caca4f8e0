"""The command reference, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import typer

from docs.tables import code, table
from docs.words import HEADS, Language
from luthier.cli.group import app

__all__ = ["command_reference", "commands"]


def commands(command: Any = None, path: tuple[str, ...] = ("luthier",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its full name; groups only lead to theirs."""
    command = command or typer.main.get_command(app)
    inner = getattr(command, "commands", {})
    if not inner:
        yield path, command
    for name, child in inner.items():
        yield from commands(child, (*path, name))


def command_reference(language: Language) -> str:
    """A section each."""
    return "\n\n".join(_section(" ".join(path), command, language) for path, command in commands())


def _section(name: str, command: Any, language: Language) -> str:
    arguments = [item for item in command.params if not item.opts[0].startswith("-")]
    options = [item for item in command.params if item.opts[0].startswith("-")]
    usage = " ".join([name, *map(_in_usage, arguments), *(["[OPTIONS]"] if options else [])])
    rows = [[_names(item), _value(item), _default(item), item.help or ""] for item in (*arguments, *options)]
    parts = [f"## {code(name)}", command.help.strip(), f"```text\n{usage}\n```"]
    if rows:
        parts.append(table([HEADS[language]["commands"], *rows]))
    return "\n\n".join(parts)


def _metavar(item: Any) -> str:
    return str(item.metavar or item.name.upper())


def _in_usage(item: Any) -> str:
    return _metavar(item) if item.required else f"[{_metavar(item)}]"


def _names(item: Any) -> str:
    if not item.opts[0].startswith("-"):
        return code(_metavar(item))
    return ", ".join(code(name) for name in sorted(item.opts, key=len) + list(item.secondary_opts))


def _value(item: Any) -> str:
    """What an option takes: its own word, its choices, or its type; a flag takes nothing."""
    if not item.opts[0].startswith("-") or item.is_flag:
        return ""
    if item.metavar:
        return code(item.metavar)
    kind = item.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " · ".join(code(str(choice.value)) for choice in kind)
    name = str(kind.__name__)
    return {"Path": "path", "int": "number", "str": "text"}.get(name, name)


def _default(item: Any) -> str:
    if item.default is None or item.default is False or item.default == ():
        return ""
    if item.default is True:
        return code(item.opts[0])
    return code(str(getattr(item.default, "value", item.default))) if str(item.default) else ""
