"""The loop, its events, checkpoints and exact resume."""

from luthier.training.evaluation import Epochs, Metrics, evaluate
from luthier.training.events import (
    CheckpointSaved,
    EpochEnded,
    EpochStarted,
    Evaluated,
    Event,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from luthier.training.listeners import Listener
from luthier.training.loop import Training
from luthier.training.planning import schedule
from luthier.training.restoring import require_same_data, restore
from luthier.training.running import has_ended, open_parts, open_recipe_data, resume, train
from luthier.training.starting import start_from
from luthier.training.throughput import Throughput

__all__ = [
    "CheckpointSaved",
    "EpochEnded",
    "EpochStarted",
    "Epochs",
    "Evaluated",
    "Event",
    "Listener",
    "Metrics",
    "RunEnded",
    "RunStarted",
    "StepEnded",
    "StepStarted",
    "Throughput",
    "Training",
    "evaluate",
    "has_ended",
    "open_parts",
    "open_recipe_data",
    "require_same_data",
    "restore",
    "resume",
    "schedule",
    "start_from",
    "train",
]
