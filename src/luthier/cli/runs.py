"""`luthier runs list | compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from luthier.cli.options import Json, print_json
from luthier.errors import RecipeError

__all__ = ["register"]

WIDE = 10_000  # columns

group = typer.Typer(help="Look over runs: which there are, how they differ.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.add_typer(group, name="runs")


@group.command("list")
def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Looked through to any depth.")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """Every run below a folder, with what came out of it."""
    from luthier.errors import UnknownRun
    from luthier.store import runs

    if not folder.is_dir():
        raise UnknownRun(f"No folder {folder}", hint="Give the folder that holds the runs.")
    found = runs(folder, on_damaged=lambda error: typer.echo(f"left out: {error}", err=True))
    if as_json:
        print_json([{"path": str(run.path), "result": run.result()} for run in found])
        return
    for run in found:
        result = run.result()
        accuracy = f"{result.accuracy:6.2f} %" if result and result.accuracy is not None else "       –"
        score = f"{result.score:6.2f}" if result and result.score is not None else "     –"
        typer.echo(f"{result.status if result else 'unfinished':11}  {accuracy}  {score}  {run.path}")


@group.command()
def compare(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Two runs or more.")],
    as_json: Json = False,
) -> None:
    """The fields of the recipes that differ, and the results, side by side."""
    from luthier.store import compare as compared
    from luthier.store import open_run

    if len(paths) < 2:
        raise RecipeError(
            f"Expected two runs or more, got '{paths[0]}' alone", hint="Such as: luthier runs compare A B"
        )
    comparison = compared([open_run(path) for path in paths])
    if as_json:
        print_json(comparison)
    else:
        _print_table(comparison.as_table())


def _print_table(rows: list[list[str]]) -> None:
    """As wide as the terminal, where long names go on in the next line; in a file or a pipe as wide as it is."""
    from rich.console import Console
    from rich.table import Table

    head, *body = rows
    table = Table(box=None, pad_edge=False)
    for name in head:
        table.add_column(name, overflow="fold")
    for row in body:
        table.add_row(*row)
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDE).print(table)
