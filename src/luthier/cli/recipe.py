"""`luthier recipe list | show | schema`."""

from __future__ import annotations

from typing import Annotated

import typer

from luthier.cli.options import Json, Overrides, print_json

__all__ = ["register"]

recipe = typer.Typer(help="Look at recipes: what ships, what a field means.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.add_typer(recipe, name="recipe")


@recipe.command("list")
def list_recipes(as_json: Json = False) -> None:
    """The shipped recipes, each with the first line of what it says of itself."""
    from luthier.recipe import shipped, shipped_text

    rows = {name: shipped_text(name).splitlines()[0].lstrip("# ") for name in shipped()}
    if as_json:
        print_json(rows)
    else:
        width = max(map(len, rows))
        typer.echo("\n".join(f"{name:{width}}  {line}" for name, line in rows.items()))


@recipe.command()
def show(
    name: Annotated[str, typer.Argument(metavar="RECIPE", help="A shipped name, a .toml file or a run.")],
    overrides: Overrides = None,
    source: Annotated[bool, typer.Option("--source", help="As its author wrote it, comments and all.")] = False,
    as_json: Json = False,
) -> None:
    """A recipe with every default written out."""
    from luthier.recipe import load, shipped, shipped_text, to_toml

    if source and name in shipped():
        typer.echo(shipped_text(name).rstrip())
        return
    found = load(name, overrides or ())
    if as_json:
        print_json(found)
    else:
        typer.echo(to_toml(found).rstrip())


@recipe.command()
def schema() -> None:
    """The JSON Schema of recipes, for editors that complete and check them."""
    from luthier.recipe import json_schema

    print_json(json_schema())
