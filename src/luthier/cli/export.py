"""`luthier export`."""

from __future__ import annotations

from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, Output, Overrides, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(export)


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run, or a recipe that is not trained yet.")],
    output: Output,
    form: Annotated[str, typer.Option("--format", help="onnx, mindir, safetensors or ckpt.")] = "onnx",
    pixels: Annotated[bool, typer.Option("--pixels", help="Take raw pixels: normalise inside the graph.")] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="Store an ONNX graph's weights as int8, calibrated on training images.")
    ] = False,
    float16: Annotated[bool, typer.Option("--float16", help="Store an ONNX graph's weights as float16.")] = False,
    overrides: Overrides = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="What int8 and float16 are judged by: validation, train or eval. "
            "[default: validation, or where nothing was held back, train]"
        ),
    ] = None,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Write a run's network for deployment, checked against the original before it is written."""
    from luthier.compress import export as export_file
    from luthier.compress import exported_text

    exported = export_file(
        run,
        format=form,
        output=output,
        pixels=pixels,
        int8=int8,
        float16=float16,
        overrides=overrides or (),
        split=split,
        checkpoint=checkpoint,
        data_root=data_root,
    )
    if as_json:
        print_json(exported)
    else:
        typer.echo(exported_text(exported))
