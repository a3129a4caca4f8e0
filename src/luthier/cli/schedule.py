"""`luthier schedule`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import DataRoot, Output, Overrides

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(schedule)


def schedule(
    recipes: Annotated[list[str], typer.Argument(metavar="RECIPE...", help="Shipped names, .toml files or runs.")],
    overrides: Overrides = None,
    output: Output = Path("schedule.png"),
    steps_per_epoch: Annotated[
        int | None, typer.Option(min=1, help="For a data set that is not here, and whose length is not known.")
    ] = None,
    data_root: DataRoot = None,
) -> None:
    """Draw the recipes' learning rates over each other, step by step."""
    from luthier.training import schedule as drawn

    written = drawn(
        recipes, overrides=overrides or (), output=output, steps_per_epoch=steps_per_epoch, data_root=data_root
    )
    typer.echo(str(written))
