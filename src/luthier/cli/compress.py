"""`luthier compress`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, Overrides, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(compress)


def compress(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run that has been trained.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The folder for the file, the record and the runs of pruned networks."),
    ],
    overrides: Overrides = None,
    pixels: Annotated[bool, typer.Option("--pixels", help="Take raw pixels: normalise inside the graph.")] = False,
    split: Annotated[
        str | None,
        typer.Option(
            help="What every step is judged by: validation, train or eval. "
            "[default: validation, or where nothing was held back, train]"
        ),
    ] = None,
    checkpoint: Checkpoint = "last",
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Make a run's network smaller by the steps of its recipe; one that costs more score than it gives is refused."""
    from luthier.cli.progress import Progress
    from luthier.compress import compress as compressed
    from luthier.compress import compression_text

    done = compressed(
        run,
        output=output,
        overrides=overrides or (),
        pixels=pixels,
        split=split,
        checkpoint=checkpoint,
        data_root=data_root,
        listeners=lambda: [Progress()],
    )
    if as_json:
        print_json(done)
    else:
        typer.echo(compression_text(done))
