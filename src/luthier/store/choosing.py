"""Which of a run's checkpoints is meant."""

from __future__ import annotations

from pathlib import Path

from luthier.errors import RecipeError, StoreError, nearest
from luthier.store.checkpoints import load_checkpoint
from luthier.store.run import Run

__all__ = ["chosen_checkpoint"]


def chosen_checkpoint(run: Run, which: str | int) -> Path:
    """`last`, `best` (by what the run was judged by, never by the evaluation set), or the number of a step."""
    found = {int(path.name.removeprefix("step-")): path for path in run.checkpoints()}
    if not found:
        raise StoreError(
            f"Run {run.name} has no checkpoint yet", at=str(run.path), hint=f"luthier train --resume {run.path}"
        )
    last = max(found)
    if which == "last":
        return found[last]
    step = _best(run, found[last]) if which == "best" else _number(which)
    if step not in found:
        what = f"of step {step}" if isinstance(step, int) else f"'{which}'"
        raise RecipeError(f"Run {run.name} has no checkpoint {what}", at=str(run.path), hint=_known(which, found))
    return found[step]


def _best(run: Run, last: Path) -> int | None:
    """A run that has ended says it in its result, any other in its last checkpoint."""
    result = run.result()
    if result and result.best_step is not None:
        return result.best_step
    best = load_checkpoint(last).progress.get("best") or {}
    step: int | None = best.get("step")
    return step


def _number(which: str | int) -> int | str:
    text = str(which).removeprefix("step-")
    return int(text) if text.isdecimal() else text


def _known(which: str | int, found: dict[int, Path]) -> str:
    meant = nearest(str(which), ("last", "best"))
    steps = ", ".join(map(str, sorted(found)))
    return f"Perhaps you meant '{meant}'." if meant and meant != which else f"Known: last, best, {steps}."
