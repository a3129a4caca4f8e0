"""`luthier doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import DataRoot, Json, Out, print_json

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(doctor)


def doctor(
    out: Out = Path("runs"),
    data_root: DataRoot = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds that each framework has to answer.")] = 15,
    as_json: Json = False,
) -> None:
    """What this machine has, what works, and how to get the rest; exit code 1 where something is broken."""
    from luthier.doctor import doctor as examined
    from luthier.doctor import report_text

    report = examined(out=out, data_root=data_root, timeout_s=timeout)
    if as_json:
        print_json(report)
    else:
        typer.echo(report_text(report))
    if report.broken:
        raise typer.Exit(1)
