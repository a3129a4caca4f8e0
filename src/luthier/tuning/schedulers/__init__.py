"""Which trials are worth going on with: halving with pauses, Hyperband's brackets of it, median stopping, or all."""

from __future__ import annotations

from luthier.errors import RecipeError, unknown
from luthier.tuning.schedulers.halving import Halving, Hyperband
from luthier.tuning.schedulers.median import MedianStopping, RunAll
from luthier.tuning.schedulers.protocol import Decision, Scheduler

__all__ = [
    "SCHEDULERS",
    "Decision",
    "Halving",
    "Hyperband",
    "MedianStopping",
    "RunAll",
    "Scheduler",
    "make_scheduler",
]

SCHEDULERS = ("halving", "hyperband", "median", "none")


def make_scheduler(name: str) -> Scheduler:
    """By its name."""
    match name:
        case "halving":
            return Halving()
        case "hyperband":
            return Hyperband()
        case "median":
            return MedianStopping()
        case "none":
            return RunAll()
    sentence, hint = unknown("scheduler", name, SCHEDULERS)
    raise RecipeError(sentence, at="--scheduler", hint=hint)
