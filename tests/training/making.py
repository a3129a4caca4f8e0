"""A training in this process: small, and with everything that it told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from luthier.recipe import Recipe, load
from luthier.store import Result, Run
from luthier.training import Event, train

__all__ = ["digits", "result_of", "trained"]

QUIET = ("record.histograms=false", "record.images=0")


def digits(*settings: str) -> Recipe:
    """LeNet-5 on digits, 44 steps an epoch, changed as a test needs it."""
    return load("lenet5-digits", [*QUIET, *settings])


def trained(out: Path, *settings: str, listeners: Iterable[Any] = ()) -> tuple[Run, list[Event]]:
    """The run, and every event of it in order."""
    told: list[Event] = []
    run = train(digits(*settings), out=out, listeners=[*listeners, told.append])
    return run, told


def result_of(run: Run) -> Result:
    """A run that has ended has one."""
    result = run.result()
    assert result is not None
    return result
