"""From a path or a name to a run, and from a folder to all runs below it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from luthier.errors import RecipeError, StoreError, UnknownRun, nearest
from luthier.recipe import read
from luthier.store.checkpoint_folders import tidy
from luthier.store.run import ENVIRONMENT, RECIPE, Run
from luthier.store.writer import writing as written_by_us

__all__ = ["open_run", "runs"]

RUNS = Path("runs")


def open_run(path: Path | str, *, writing: bool = False) -> Run:
    """A run by its folder, or by its name below ./runs; `writing` also removes what a killed process left in it.

    One that another process is writing is refused then.
    """
    given = Path(path)
    places = [given, RUNS / given]
    found = next((place for place in places if _is_run(place)), None)
    if found is None:
        raise UnknownRun(f"'{path}' is no run", hint=_meant(given))
    try:
        recipe = read(found / RECIPE)
    except RecipeError as error:
        fault = f"{error.sentence} ({error.at})" if error.at else error.sentence
        raise StoreError(f"Run {found.name} has a damaged recipe: {fault}", at=str(found / RECIPE)) from error
    run = Run(found, recipe)
    _require_own_recipe(run)
    if writing:
        with written_by_us(found):
            tidy(found)
    return run


def _require_own_recipe(run: Run) -> None:
    """A file that lost its end is a recipe still, of another training."""
    path = run.path / RECIPE
    try:
        known, found = run.environment().recipe_sha256, sha256(path.read_bytes()).hexdigest()
    except (StoreError, OSError):  # the record is what is damaged, and told where it is asked
        return
    if known and known != found:
        raise StoreError(
            f"Run {run.name} has another recipe than it was started with",
            at=str(path),
            hint="Put the file back as it was. To change a recipe, start a new run.",
        )


def runs(folder: Path, *, on_damaged: Callable[[StoreError], None] | None = None) -> list[Run]:
    """All runs below a folder, however deep, by name; a damaged one is left out and named, by default in the log."""
    report = on_damaged or (lambda error: logging.getLogger("luthier").warning("Left out: %s", error))
    found = []
    for path in _run_folders(folder):
        try:
            run = open_run(path)
            run.result()
        except StoreError as error:
            report(error)
        else:
            found.append(run)
    return sorted(found, key=lambda run: (run.name, run.path))


def _is_run(path: Path) -> bool:
    """Unlike Path's, os.path's question is answered with no where a folder may not be read."""
    return all(os.path.isfile(path / name) for name in (RECIPE, ENVIRONMENT))


def _run_folders(folder: Path) -> Iterator[Path]:
    """A run holds no other runs, and hidden folders (.git, .venv) hold none that anyone meant."""
    for name, below, _ in os.walk(folder):
        place = Path(name)
        if _is_run(place):
            yield place
            below.clear()
        else:
            below[:] = (child for child in below if not child.startswith("."))


def _meant(given: Path) -> str:
    """The run around the path, one within it, or the one beside it with the nearest name."""
    around = next((parent for parent in given.absolute().parents if _is_run(parent)), None)
    if around is not None:
        return f"Perhaps you meant '{around}', which it is a part of."
    within = _runs_in(given)
    if within:
        return f"Perhaps you meant '{within[-1]}', the latest run within it."
    beside = {path.name: path for parent in (given.parent, RUNS) for path in _runs_in(parent)}
    ending = [name for name in beside if name.endswith(given.name)]
    name = ending[-1] if ending else nearest(given.name, beside)
    if name is not None:
        return f"Perhaps you meant '{beside[name]}'."
    return "A run is a folder that `luthier train` made, or its name below ./runs."


def _runs_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if _is_run(path))
    except (OSError, ValueError):  # a folder that may not be read, or a name that no folder can have
        return []
