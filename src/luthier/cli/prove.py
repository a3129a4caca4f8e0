"""`luthier prove`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from luthier.cli.options import DataRoot, Json, Overrides, print_json

if TYPE_CHECKING:
    from luthier.proof import Verdict

__all__ = ["register"]

Side = Annotated[str | None, typer.Option(metavar="FILE:NAME", help="A network, or a function that makes one.")]
Own = Annotated[
    str | None, typer.Option(metavar="FILE:NAME", help="A class with batches, loss, optimizer or gradients.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    app.command()(prove)


def prove(
    port: Annotated[str | None, typer.Argument(metavar="PORT", help="A folder that `luthier port` wrote.")] = None,
    reference: Side = None,
    candidate: Side = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", metavar="[NAME:]SHAPE[:DTYPE]", help="An input; may be repeated.")
    ] = None,
    weight_map: Annotated[Path | None, typer.Option("--map", help="The weight map. [default: by the names]")] = None,
    recipe: Annotated[str | None, typer.Option(help="Data, loss, optimizer and schedule to prove with.")] = None,
    overrides: Overrides = None,
    reference_trainer: Own = None,
    candidate_trainer: Own = None,
    each: Annotated[
        list[str] | None, typer.Option(metavar="LAYER", help="Prove a sub-network alone; may be repeated.")
    ] = None,
    steps: Annotated[int, typer.Option(min=0, help="Training steps at the end.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the inputs.")] = 0,
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Judge the candidate's own weights.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Climb on after a rung has failed.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The folder for the evidence.")] = None,
    data_root: DataRoot = None,
    as_json: Json = False,
) -> None:
    """Prove that a port is the same network, or name the first layer that differs."""
    from luthier.cli.proving import require_sides, sides
    from luthier.proof import prove as proven

    require_sides(port, reference, candidate)
    options: dict[str, Any] = {
        "map": weight_map, "recipe": recipe, "overrides": overrides or (), "steps": steps, "seed": seed,
        "reference_trainer": reference_trainer, "candidate_trainer": candidate_trainer,
        "keep_weights": keep_weights, "keep_going": keep_going, "data_root": data_root,
    }  # fmt: skip
    verdicts: list[Verdict] = []
    for layer in each or (None,):
        place = output / layer if output and layer else output
        verdicts.append(proven(*sides(port, reference, candidate), inputs or (), each=layer, output=place, **options))
        if not as_json:
            from luthier.cli.proving import show

            show(verdicts[-1], place)
    if as_json:
        print_json(verdicts if each else verdicts[0])
    raise typer.Exit(0 if all(verdict.proven for verdict in verdicts) else 1)
