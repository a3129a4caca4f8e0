"""`luthier train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from luthier.cli.options import DataRoot, Json, Out, Overrides, print_json
from luthier.errors import RecipeError

if TYPE_CHECKING:
    from luthier.store import Run

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(train)


def train(
    recipe: Annotated[str | None, typer.Argument(help="A shipped name or a .toml file.")] = None,
    overrides: Overrides = None,
    start_from: Annotated[
        Path | None,
        typer.Option("--from", metavar="RUN|FILE", help="Start from other weights: a run's, or a file's."),
    ] = None,
    out: Out = Path("runs"),
    resume: Annotated[Path | None, typer.Option(metavar="RUN", help="Go on with a run that stopped.")] = None,
    data_root: DataRoot = None,
    measure: Annotated[bool, typer.Option(help="End with the measured row: size, latency, score.")] = True,
    as_json: Json = False,
) -> None:
    """Train a recipe, or go on with a run to the same bits as if it had never stopped."""
    from luthier.cli.progress import Progress
    from luthier.engines import launched
    from luthier.measure import require_runtime
    from luthier.recipe import load
    from luthier.store import open_run
    from luthier.training import has_ended
    from luthier.training import resume as go_on
    from luthier.training import train as start

    if (recipe is None) == (resume is None):
        raise RecipeError("Expected a recipe or --resume RUN, one of the two", hint="Try: luthier train lenet5-digits")
    if resume is not None:
        if overrides or start_from:
            at = "--set" if overrides else "--from"
            raise RecipeError("A run goes on with its own recipe", at=at, hint="To change it, start a new run.")
        run = open_run(resume)
        if has_ended(run):
            if launched().rank == 0:
                _say_ended(run, as_json=as_json)
            return
        run = open_run(resume, writing=launched().rank == 0)
        if measure:
            require_runtime(run.recipe.score.runtime)
        run = go_on(run, data_root=data_root, listeners=[Progress()])
    else:
        if measure:
            require_runtime(load(str(recipe), overrides or ()).score.runtime)
        run = start(
            str(recipe),
            overrides=overrides or (),
            start=start_from,
            out=out,
            data_root=data_root,
            listeners=[Progress()],
        )
    if launched().rank == 0:
        _report(run, data_root, measure=measure, as_json=as_json)


def _say_ended(run: Run, *, as_json: bool) -> None:
    result = run.result()
    assert result is not None
    reason = f" ({result.reason})" if result.reason else ""
    typer.echo(f"{run.name} has {result.status}{reason} at step {result.steps}; nothing is left to do", err=True)
    if as_json:
        print_json(result)


def _report(run: Run, data_root: Path | None, *, measure: bool, as_json: bool) -> None:
    from luthier.engines import launched
    from luthier.measure import measure as measured
    from luthier.measure import text_table

    result = run.result()
    assert result is not None
    if result.status == "interrupted":
        program = launched().program
        typer.echo(f"Interrupted at step {result.steps}. Go on with: {program} train --resume {run.path}", err=True)
        raise typer.Exit(130)
    if result.reason:
        typer.echo(f"Stopped at step {result.steps}: {result.reason}", err=True)
    if measure:
        row = measured(run, data_root=data_root)
        if not as_json:
            typer.echo(text_table([row]))
    if as_json:
        print_json(run.result())
    typer.echo(f"{run.path}", err=True)
