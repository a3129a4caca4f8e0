"""Options that mean the same wherever they appear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["Checkpoint", "DataRoot", "Json", "Out", "Output", "Overrides", "RunPath", "Split", "print_json"]

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a field of the recipe; may be repeated."),
]
DataRoot = Annotated[
    Path | None,
    typer.Option(help="The folder that holds the data sets. [default: LUTHIER_DATA, or the user's cache]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
Out = Annotated[Path, typer.Option(help="The folder that the run's folder goes into.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write; its folder is made if need be.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, or its name below ./runs.")]
Checkpoint = Annotated[str, typer.Option(help="last, best, or the number of a step that has a checkpoint.")]
Split = Annotated[str, typer.Option(help="eval, validation or train.")]


def print_json(value: Any) -> None:
    """To standard output, readable by people too."""
    import msgspec

    typer.echo(json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False))
