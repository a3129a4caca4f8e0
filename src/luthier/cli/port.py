"""`luthier port`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, print_json
from luthier.errors import PortError

__all__ = ["register"]

PORTED = Path("ported")


class Language(StrEnum):
    """Of the report's page."""

    en = "en"
    zh = "zh"


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(port)


def port(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE", help="file.py:factory, model.onnx, TensorFlow's .pb or SavedModel, a run, a recipe."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", help="The folder, or with --weights-only the file.")] = PORTED,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="[NAME:]SHAPE[:DTYPE]", help="Such as 1,3,224,224; ? is an open length."),
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--output", metavar="NAME", help="A value at which a file is cut.")
    ] = None,
    weights: Annotated[Path | None, typer.Option(help="Weights for the source: .pt, .safetensors.")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="Write a whole project that trains as this recipe says, on MindSpore alone.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An argument of the factory, or of --recipe a field."),
    ] = None,
    analysis: Annotated[
        bool, typer.Option("--analyse", help="Report what a port would be, and write nothing.")
    ] = False,
    weights_only: Annotated[
        Path | None, typer.Option(help="Rename a checkpoint by --map, for a network that you ported by hand.")
    ] = None,
    weight_map: Annotated[Path | None, typer.Option("--map", help="The weight map.")] = None,
    language: Annotated[Language, typer.Option(help="Of the report's page.")] = Language.en,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Turn a PyTorch, ONNX or TensorFlow network into a MindSpore script with its weights, report every operator."""
    from luthier.port import (
        analyse,
        parsed_options,
        ported_text,
        project_text,
        rename_weights,
        report_text,
        write_project,
    )
    from luthier.port import port as ported

    if weights_only or weight_map:
        typer.echo(rename_weights(weights_only, weight_map, output))
        return
    if recipe and (source or weights or inputs or analysis):
        raise PortError("A project is made of a recipe alone", at="--recipe", hint="Leave the rest out.")
    given = {} if recipe else parsed_options(options or ())
    if recipe:
        project = write_project(
            recipe, output=output, overrides=options or (), data_root=data_root, language=language.value
        )
        report, told = project.ported.report, project_text(project)
    elif analysis:
        report = analyse(
            source,
            inputs=inputs or (),
            outputs=outputs or (),
            options=given,
            checkpoint=checkpoint,
            data_root=data_root,
        )
        told = report_text(report)
    else:
        done = ported(
            source,
            output=output,
            inputs=inputs or (),
            outputs=outputs or (),
            weights=weights,
            options=given,
            checkpoint=checkpoint,
            data_root=data_root,
            language=language.value,
        )
        report, told = done.report, ported_text(done)
    if as_json:
        print_json(report)
    else:
        typer.echo(told)
    if not report.complete:
        raise typer.Exit(1)
