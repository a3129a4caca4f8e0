"""Runs and recipes on the digits that come with the package, made without training."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from luthier.recipe import Recipe, load
from luthier.store import Run, create_run, save_checkpoint
from luthier.training import open_parts

NOON = datetime(2026, 11, 18, 12, 0)


def digits(*overrides: str) -> Recipe:
    """LeNet-5 on digits."""
    return load("lenet5-digits", overrides)


def make_run(folder: Path, *overrides: str, steps: tuple[int, ...] = (40, 80, 120), best: int | None = 80) -> Run:
    """Checkpoints of different weights; each has that of its step as bias of the last layer, for tests to tell."""
    recipe = digits(*overrides)
    run = create_run(folder, recipe, now=NOON)
    data, session = open_parts(recipe)
    state = session.state()
    for step in steps:
        weights = {key.removeprefix("model/"): array for key, array in state.items() if key.startswith("model/")}
        weights["fc3.bias"] = weights["fc3.bias"] * 0 + step
        rest = {key: array for key, array in state.items() if not key.startswith("model/")}
        save_checkpoint(run, step, weights, rest, {"best": {"value": None, "step": best, "since": 0}})
    data.close()
    session.close()
    return run
