"""The folders of a run's checkpoints: which there are, how one appears, and how one goes."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from luthier.store.durable import PARTIAL, could_not_write, sync_folder

if TYPE_CHECKING:
    from luthier.store.run import Run

__all__ = ["before", "checkpoint_folder", "latest_checkpoint", "listed", "prune_checkpoints", "put_in_place", "tidy"]

FOLDER = "checkpoints"
NAME = re.compile(r"step-(\d+)")
REPLACED = ".replaced"  # a hidden folder on its way out, while the one that takes its name moves in


def checkpoint_folder(run: Path, step: int) -> Path:
    """The name that a checkpoint of this step has."""
    return run / FOLDER / f"step-{step:08d}"


def listed(run: Path) -> list[Path]:
    """Every checkpoint of a run by step, whole or damaged; what is in the making has a hidden name."""
    return _sorted(run / FOLDER)


def latest_checkpoint(run: Run) -> Path | None:
    """The last one, not yet verified: loading does that."""
    found = listed(run.path)
    return found[-1] if found else None


def before(checkpoint: Path) -> list[Path]:
    """The checkpoints beside this one that are older, the last first."""
    named = NAME.fullmatch(checkpoint.name)
    siblings = _sorted(checkpoint.parent)
    return [path for path in reversed(siblings) if named is None or _step(path) < int(named[1])]


def prune_checkpoints(run: Run, *, keep: int, best: int | None = None) -> list[Path]:
    """Remove all but the last `keep` and the one of step `best`; the removed ones' former paths."""
    found = listed(run.path)
    removed = [path for path in found[: max(0, len(found) - keep)] if _step(path) != best]
    for path in removed:
        aside = path.with_name(f".{path.name}{PARTIAL}")
        try:
            path.rename(aside)  # first, so that a kill in the middle leaves no checkpoint that is half there
            shutil.rmtree(aside)
        except OSError as error:
            raise could_not_write(f"the removal of {path.name}", error, at=path.parent) from error
    return removed


def put_in_place(partial: Path, target: Path) -> None:
    """Give a finished folder its name; one that has it already (a damaged one, say) is there until the new one is."""
    sync_folder(partial)
    replaced = target.with_name(f".{target.name}{REPLACED}")
    if target.exists():
        target.rename(replaced)
    os.replace(partial, target)
    sync_folder(target.parent)
    if replaced.exists():
        shutil.rmtree(replaced)


def tidy(run: Path) -> None:
    """Remove what a killed writer left; there is one writer a run, so that nothing of it can be in use."""
    for leftover in [*run.glob(f".*{PARTIAL}"), *(run / FOLDER).glob(f".*{PARTIAL}")]:
        if leftover.is_dir():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()
    for replaced in (run / FOLDER).glob(f".*{REPLACED}"):
        target = replaced.with_name(replaced.name.removeprefix(".").removesuffix(REPLACED))
        if target.exists():
            shutil.rmtree(replaced)
        else:
            replaced.rename(target)


def _sorted(folder: Path) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((path for path in found if NAME.fullmatch(path.name)), key=_step)


def _step(path: Path) -> int:
    named = NAME.fullmatch(path.name)
    assert named is not None
    return int(named[1])
