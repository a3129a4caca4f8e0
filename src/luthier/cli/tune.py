"""`luthier tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from luthier.cli.options import DataRoot, Json, Overrides, print_json
from luthier.errors import RecipeError

if TYPE_CHECKING:
    from luthier.recipe import ParamSpec
    from luthier.tuning import Study

__all__ = ["register"]

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(tune)


def tune(
    recipe: Annotated[str | None, typer.Argument(help="A shipped name or a .toml file.")] = None,
    overrides: Overrides = None,
    budget: Annotated[str | None, typer.Option(help="Time to search, such as 90s, 30m or 2h.")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="So many trials, in place of a time or at most.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The folder to write. [default: RECIPE-study]")
    ] = None,
    resume: Annotated[Path | None, typer.Option(metavar="STUDY", help="Go on with a study.")] = None,
    spaces: Annotated[
        list[str] | None, typer.Option("--space", help="lenet5, resnet, slim or strategy; may be repeated.")
    ] = None,
    searcher: Annotated[str, typer.Option(help="tpe, gp, nsga2, random, grid or selector.")] = "tpe",
    scheduler: Annotated[str, typer.Option(help="halving, hyperband, median or none.")] = "halving",
    require: Annotated[
        list[str] | None, typer.Option(metavar="LIMIT", help="Such as accuracy>=65 or size_mb<=1; may be repeated.")
    ] = None,
    objectives: Annotated[str, typer.Option(help="score, or several of accuracy,size,latency for nsga2.")] = "score",
    accuracy_cap: Annotated[float, typer.Option(help="Percent that no trial is expected to exceed.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Of the search.")] = 0,
    seeds: Annotated[int, typer.Option(min=0, help="Final trainings of the best, and of the recipe.")] = 3,
    ablate: Annotated[bool, typer.Option(help="At the end put each change of the best back by itself.")] = True,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. [default: one a core]")] = None,
    on: Annotated[str, typer.Option(help="here, ray (on this machine), or a cluster's ray://HOST:PORT.")] = "here",
    hang: Annotated[str, typer.Option(help="Give up a trial that shows no sign of life for so long.")] = "10m",
    select: Annotated[bool, typer.Option("--select", help="Choose values by short pre-trainings: minutes.")] = False,
    candidates: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=[...]", help="With --select: what to try for a field; may be repeated."),
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="With --select: of each pre-training.")] = None,
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Find better values for a recipe: a few by --select, or structure and strategy within a --budget."""
    if (recipe is None) == (resume is None):
        raise RecipeError(
            "Expected a recipe or --resume STUDY, one of the two",
            hint="Try: luthier tune lenet5-digits --budget 2m",
        )
    if recipe is not None and select:
        _select(recipe, overrides, candidates, steps, output, data_root, as_json=as_json)
        return
    from luthier import tuning

    if resume is not None:
        if overrides or spaces or output:
            raise RecipeError("A study goes on with its own recipe and space", at="--resume")
        study = tuning.resume_study(resume, budget_s=seconds(budget), trials=trials, workers=workers, on=on, say=_say)
    else:
        study = tuning.tune(
            str(recipe),
            overrides=overrides or (),
            spaces=spaces or (),
            out=output or Path(f"{Path(str(recipe)).stem}-study"),
            budget_s=seconds(budget),
            trials=trials,
            workers=workers,
            on=on,
            searcher=searcher,
            scheduler=scheduler,
            seed=seed,
            seeds=seeds,
            ablate=ablate,
            require=require or (),
            objectives=objectives.split(","),
            accuracy_cap=accuracy_cap,
            hang_s=seconds(hang, at="--hang") or 600.0,
            data_root=data_root,
            say=_say,
        )
    _show(study, as_json=as_json)


def _say(text: str) -> None:
    typer.echo(text, err=True)


def seconds(text: str | None, at: str = "--budget") -> float | None:
    """90s, 30m, 2h, or a bare number of seconds."""
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in UNITS else (text, "s")
    try:
        return float(number) * UNITS[unit]
    except ValueError:
        raise RecipeError(f"Expected a time such as 90s, 30m or 2h, got '{text}'", at=at) from None


def _show(study: Study, *, as_json: bool) -> None:
    best, path = study.best, study.path
    if study.state.stopped:
        typer.echo(f"Stopped. Go on with: luthier tune --resume {path}", err=True)
        raise typer.Exit(130)
    assert best is not None, "a study without one has raised"
    if as_json:
        print_json({"best": best, "trials": study.state.count, "study": str(path)})
    else:
        typer.echo(f"best: trial {best.number}, score {best.score or 0:.2f}, {best.accuracy or 0:.2f} % on validation")
        typer.echo((path / "best.toml").as_posix())
    typer.echo(f"Look at it with: luthier report {path}", err=True)


def _select(
    recipe: str,
    overrides: list[str] | None,
    candidates: list[str] | None,
    steps: int | None,
    output: Path | None,
    data_root: Path | None,
    *,
    as_json: bool,
) -> None:
    from luthier.tuning import select as selected
    from luthier.tuning import selection_text

    selection = selected(
        recipe,
        overrides=overrides or (),
        param_list_spec=_lists(candidates),
        total_steps=steps,
        data_root=data_root,
        say=_say,
    )
    folder = selection.save(output or Path(f"{selection.recipe.name}-selected"))
    if as_json:
        print_json({"values": selection.values, "interval": selection.interval, "seconds": selection.seconds})
    else:
        typer.echo(selection_text(selection))
    typer.echo(f"{selection.steps:,} steps in {selection.seconds:.0f} s", err=True)
    typer.echo(f"Go on with: luthier train {folder}/selected.toml", err=True)


def _lists(given: list[str] | None) -> ParamSpec | None:
    import tomllib

    from luthier.recipe import ParamSpec

    if not given:
        return None
    lists: dict[str, Any] = {}
    for text in given:
        field, equals, value = text.partition("=")
        try:
            lists[field.strip()] = tomllib.loads(f"value = {value}")["value"] if equals else None
        except tomllib.TOMLDecodeError:
            lists[field.strip()] = None
        if not isinstance(lists[field.strip()], list):
            raise RecipeError(
                f"Expected field=[value, …], got '{text}'", at="--candidates", hint="Such as momentum=[0.9,0.95]."
            )
    return ParamSpec(lists)
