"""A project's scripts as a person starts them, and the losses of Luthier's own training beside theirs."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import luthier
from luthier.training import Listener, StepEnded

__all__ = ["losses_of_luthier", "losses_of_project", "run"]

LOSS = re.compile(r"^epoch: \d+ step: \d+, loss is (\S+)$", re.MULTILINE)
FEW = ("record.every_steps=1", "record.images=0", "record.histograms=false", "score.runtime=mindspore")


def losses_of_luthier(recipe: str | Path, overrides: Iterable[str], folder: Path, **given: Any) -> list[float]:
    """Every step's, by the MindSpore engine."""
    losses: list[float] = []

    def hear(event: object) -> None:
        if isinstance(event, StepEnded):
            losses.append(float(event.loss))

    listener: Listener = hear
    settings = ["engine=mindspore", *FEW, "data.eval_limit=32", *overrides]
    luthier.train(recipe, overrides=settings, out=folder, listeners=[listener], **given)
    return losses


def losses_of_project(project: Path, dataset_path: Path | str, *options: str) -> list[float]:
    """Every step's, as `train.py` prints them."""
    told = run(project, "train.py", "--dataset_path", str(dataset_path), *options)
    return [float(loss) for loss in LOSS.findall(told)]


def run(project: Path, script: str, *arguments: str) -> str:
    """What the script prints, in this process: MindSpore is loaded once for all."""
    told = io.StringIO()
    with _as_started(project, script, arguments), contextlib.redirect_stdout(told):
        runpy.run_path(str(project / script), run_name="__main__")
    return told.getvalue()


@contextlib.contextmanager
def _as_started(project: Path, script: str, arguments: tuple[str, ...]) -> Iterator[None]:
    import mindspore

    mode, argv, path = mindspore.get_context("mode"), sys.argv, list(sys.path)
    sys.argv, sys.path[:] = [script, *arguments], [str(project), *path]
    with contextlib.chdir(project):
        try:
            yield
        finally:
            sys.argv, sys.path[:] = argv, path
            for name in [name for name in sys.modules if name.partition(".")[0] == "src"]:
                del sys.modules[name]
            mindspore.set_context(mode=mode)
