"""`luthier report`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["register"]


class ReportLanguage(StrEnum):
    """Of the report."""

    en = "en"
    zh = "zh"


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(report)


def report(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A folder that `luthier tune` made.")],
    language: Annotated[ReportLanguage, typer.Option(help="Of the report.")] = ReportLanguage.en,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder to write. [default: the study's]")
    ] = None,
) -> None:
    """What a study tried, what mattered, its front and its best, as Markdown and as HTML."""
    from luthier.tuning import report as write_report

    for path in write_report(study, language=language.value, output=output):
        typer.echo(str(path))
