"""What the loop tells: the six moments that callbacks of this field know, and what happens between them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, SupportsFloat

if TYPE_CHECKING:
    from luthier.training.evaluation import Metrics
    from luthier.training.loop import Training

__all__ = [
    "CheckpointSaved",
    "Ending",
    "EpochEnded",
    "EpochStarted",
    "Evaluated",
    "Event",
    "RunEnded",
    "RunStarted",
    "StepEnded",
    "StepStarted",
]

Ending = Literal["finished", "stopped", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Each has the training it tells of: its session, its data, its position, and `stop`."""

    training: Training


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted(Event):
    """Before the first step of this process, with the step it goes on from."""

    step: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochStarted(Event):
    """Epochs count from 1, as people do."""

    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepStarted(Event):
    """Steps count from 1 too: step n has ended once n updates were made."""

    step: int
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEnded(Event):
    """The loss is lazy: reading it at every step makes a device wait."""

    step: int
    epoch: int
    loss: SupportsFloat
    learning_rate: float
    images: int  # of all ranks


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluated(Event):
    """On the validation part, or where there is none on the evaluation set, to be shown and never to choose by."""

    step: int
    epoch: int
    split: str
    metrics: Metrics


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochEnded(Event):
    """After its evaluation, with the epoch's mean training loss."""

    step: int
    epoch: int
    loss: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointSaved(Event):
    """It is on disk, whole."""

    step: int
    path: Path
    best: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded(Event):
    """After the last step of this process, whatever the reason."""

    step: int
    status: Ending
    reason: str
