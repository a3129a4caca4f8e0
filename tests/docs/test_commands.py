"""Whatever command the manual names is one, with the options that it is given."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import typer

from luthier.cli.group import app
from tests.docs.reading import PAGES

TYPED = sorted({line for page in PAGES for line in page.commands if line.startswith("luthier")})
NAMED = sorted({found for page in PAGES for found in re.findall(r"`(luthier(?: [^`]*)?)`", page.prose)})


def read(words: list[str], *, bare: bool) -> str:
    """The command's full name once all of its words were accepted; nothing is run. `bare` allows a name alone."""
    name, rest = words[0], words[1:]
    command: Any = typer.main.get_command(app)
    while children := getattr(command, "commands", {}):
        if not rest and bare:
            return name
        if rest[0] in ("--help", "--version"):
            return f"{name} {rest[0]}"
        name, command, rest = f"{name} {rest[0]}", children[rest[0]], rest[1:]
    if rest or not bare:
        with command.make_context(name, rest):
            pass
    return name


@pytest.mark.parametrize("line", TYPED)
def test_what_a_reader_types_is_accepted(line: str) -> None:
    read(shlex.split(line), bare=False)


@pytest.mark.parametrize("line", NAMED)
def test_what_the_text_names_is_there(line: str) -> None:
    read(shlex.split(line), bare=True)


def test_a_slip_is_noticed() -> None:
    with pytest.raises(KeyError):
        read(["luthier", "trian"], bare=True)
    with pytest.raises(Exception, match="--checkpont"):
        read(["luthier", "evaluate", "run", "--checkpont", "best"], bare=False)
    with pytest.raises(Exception, match="run"):
        read(["luthier", "evaluate"], bare=False)


def test_every_command_is_in_the_reference() -> None:
    from docs.commands import commands

    reference = next(page for page in PAGES if page.name == "docs/en/commands.md")
    assert [" ".join(path) for path, _ in commands()] == re.findall(r"^## `(.*)`$", reference.prose, re.MULTILINE)
