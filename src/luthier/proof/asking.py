"""What the caller of a proof wants, and the command line that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from luthier.proof.network import Array
from luthier.recipe import Recipe

__all__ = ["Asked", "command"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the caller wants, besides the two sides."""

    inputs: Sequence[Any]
    map: Any
    labels: Array | None
    trainers: tuple[Any, Any]
    recipe: Recipe | None
    steps: int
    seed: int
    keep_weights: bool
    keep_going: bool
    output: Path | None
    data_root: Path | None


def command(sides: tuple[Any, Any], asked: Asked, given_map: Any, recipe: Any, each: str | None) -> str:
    """What repeats it from the same folder, as far as a command line can say it."""
    parts = ["luthier prove"]
    parts += [str(sides[0])] if sides[1] is None else [f"--reference {sides[0]} --candidate {sides[1]}"]
    parts += [f"--input {item}" if isinstance(item, str) else "--input …" for item in asked.inputs]
    parts += [f"--map {given_map}"] if isinstance(given_map, str | Path) else []
    parts += [f"--recipe {recipe}"] if isinstance(recipe, str | Path) else []
    parts += [f"--each {each}"] if each is not None else []
    parts += [f"--steps {asked.steps}"] if asked.steps != 5 else []
    parts += [f"--seed {asked.seed}"] if asked.seed else []
    parts += ["--keep-weights"] if asked.keep_weights else []
    return " ".join(parts)
