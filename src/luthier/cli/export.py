"""`luthier export`."""

from __future__ import annotations

from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, Output, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(export)


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or a recipe that is not trained yet.")],
    output: Output,
    form: Annotated[str, typer.Option("--format", help="onnx, mindir, safetensors or ckpt.")] = "onnx",
    pixels: Annotated[bool, typer.Option("--pixels", help="Take raw pixels: normalise inside the graph.")] = False,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Write a run's network for deployment, checked against the original before it is written."""
    from luthier import compress

    exported = compress.export(
        run, format=form, output=output, pixels=pixels, checkpoint=checkpoint, data_root=data_root
    )
    if as_json:
        print_json(exported)
    else:
        typer.echo(compress.exported_text(exported))
