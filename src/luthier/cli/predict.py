"""`luthier predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, RunPath, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(predict)


def predict(
    run: RunPath,
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE...", help="Image files.")],
    top: Annotated[int, typer.Option(min=1, help="How many classes to show for each.")] = 3,
    invert: Annotated[bool, typer.Option("--invert", help="Dark writing on light ground, for digits say.")] = False,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """What a run takes each image for, with probabilities."""
    from luthier.measure import predict as predicted
    from luthier.measure import predictions_text

    predictions = predicted(run, images, top=top, invert=invert, checkpoint=checkpoint, data_root=data_root)
    if as_json:
        print_json(predictions)
    else:
        typer.echo(predictions_text(predictions))
