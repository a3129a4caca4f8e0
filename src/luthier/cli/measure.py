"""`luthier measure`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, Overrides, print_json

__all__ = ["register"]


class Form(StrEnum):
    """How a table is written."""

    text = "text"
    markdown = "markdown"


class Language(StrEnum):
    """Of the headings."""

    en = "en"
    zh = "zh"


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(measure)


def measure(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Runs, exported .onnx files, or recipes that are not trained yet."),
    ],
    overrides: Overrides = None,
    form: Annotated[Form, typer.Option("--format", help="Of the table.")] = Form.text,
    language: Annotated[Language, typer.Option(help="Of the table's headings.")] = Language.en,
    layers: Annotated[bool, typer.Option("--layers", help="Parameters of each layer, too.")] = False,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Accuracy, parameters, size, latency and score: a row for each run, file or recipe."""
    from luthier.measure import layers_text, markdown_table, text_table
    from luthier.measure import measure as measured

    rows = [
        measured(source, overrides=overrides or (), checkpoint=checkpoint, data_root=data_root) for source in sources
    ]
    if as_json:
        print_json(rows)
        return
    table = markdown_table if form is Form.markdown else text_table
    typer.echo(table(rows, language=language.value))
    if layers:
        for row in rows:
            typer.echo("\n" + layers_text(row))
