"""What `luthier prove` compares, and how a verdict looks on a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from luthier.errors import ProofError

if TYPE_CHECKING:
    from luthier.proof import Verdict

__all__ = ["require_sides", "show", "sides"]

COLOURS = {"✓": "green", "✗": "red", "Proven:": "green", "Not proven:": "red"}


def require_sides(port: str | None, reference: str | None, candidate: str | None) -> None:
    """A folder, or two networks."""
    if port is not None and (reference or candidate):
        raise ProofError("Expected a port's folder or two networks, got both", hint="Leave one of them out.")
    if port is None and not (reference and candidate):
        missing = "--candidate" if reference else "--reference" if candidate else "PORT"
        raise ProofError(
            f"Expected a port's folder, or --reference and --candidate: {missing} is missing",
            hint="Such as: luthier prove --reference ref.py:net --candidate my.py:Net --input 1,3,32,32",
        )


def sides(port: str | None, reference: str | None, candidate: str | None) -> tuple[str | None, str | None]:
    """As the library takes them."""
    return (port, None) if port is not None else (reference, candidate)


def show(verdict: Verdict, place: Path | None) -> None:
    """The first word in its colour, where the terminal has colours."""
    from luthier.proof import verdict_text

    for line in verdict_text(verdict).splitlines():
        word = next((word for word in COLOURS if line.startswith(word)), None)
        typer.echo(typer.style(word, fg=COLOURS[word]) + line[len(word) :] if word else line)
    if place is not None:
        typer.echo(f"Evidence: {place}")
