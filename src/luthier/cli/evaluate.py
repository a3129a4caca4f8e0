"""`luthier evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from luthier.cli.options import Checkpoint, DataRoot, Json, RunPath, Split, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(evaluate)


def evaluate(
    run: RunPath,
    split: Split = "eval",
    checkpoint: Checkpoint = "last",
    confusion: Annotated[bool, typer.Option("--confusion", help="Show which class was taken for which.")] = False,
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Accuracy, top-5 and loss of a run on a part of its data."""
    from luthier.measure import confusion_text, evaluate_run, metrics_text

    evaluation = evaluate_run(run, split=split, checkpoint=checkpoint, data_root=data_root)
    if as_json:
        print_json(evaluation)
        return
    typer.echo(metrics_text(evaluation))
    if confusion:
        typer.echo("\n" + confusion_text(evaluation))
