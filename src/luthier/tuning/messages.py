"""What a study and its workers say to each other: JSON, so that neither runs what the other sent."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from luthier.tuning.records import Cost

__all__ = ["Alive", "Answer", "Broke", "Done", "FromWorker", "Job", "Progress", "Sized", "decode_job", "decode_message"]


class Message(Struct, frozen=True, kw_only=True, tag_field="say", tag=str.lower):
    """One of them."""


class Job(Message, frozen=True, kw_only=True):
    """Train this, or go on with it."""

    trial: int
    recipe: str  # TOML
    folder: str  # where its run's folder goes, or is
    shared: str | None  # the data set in memory that all workers look at
    data_root: str | None
    measure: bool  # take size and latency first, and wait for the answer
    final: bool  # evaluate on the evaluation set at the end


class Answer(Message, frozen=True, kw_only=True):
    """To what was sized or reported."""

    decision: Literal["go", "pause", "stop"]


class Sized(Message, frozen=True, kw_only=True):
    """What the network costs."""

    cost: Cost


class Progress(Message, frozen=True, kw_only=True):
    """An epoch is over."""

    epoch: int
    epochs: int
    steps: int
    accuracy: float
    loss: float | None  # none where it is not finite
    seconds: float


class Alive(Message, frozen=True, kw_only=True):
    """A sign of life."""


class Done(Message, frozen=True, kw_only=True):
    """The job is: how it ended, and where its run lies."""

    status: str
    run: str = ""
    accuracy: float | None = None
    cost: Cost | None = None


class Broke(Message, frozen=True, kw_only=True):
    """The job failed, not the worker; `everywhere` where no other trial could fare better."""

    reason: str
    everywhere: bool = False


FromWorker = Sized | Progress | Alive | Done | Broke
"""Whatever a worker says."""


def decode_message(data: bytes) -> FromWorker:
    """What a worker said."""
    message: FromWorker = msgspec.json.decode(data, type=FromWorker)
    return message


def decode_job(data: bytes) -> Job | Answer:
    """What a worker is told."""
    message: Job | Answer = msgspec.json.decode(data, type=Job | Answer)
    return message
