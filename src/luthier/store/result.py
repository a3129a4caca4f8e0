"""What came out of a run: result.json, with a published schema."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

__all__ = ["Latency", "Result", "result_schema"]

Count = Annotated[int, Meta(ge=0)]
Percent = Annotated[float, Meta(ge=0, le=100)]
NonNegative = Annotated[float, Meta(ge=0)]

Status = Literal["running", "finished", "stopped", "failed", "interrupted"]


class Latency(Struct, frozen=True, kw_only=True):
    """How a latency was taken: without it the number means nothing."""

    runtime: str
    threads: Count  # of the runtime, within one operator
    batch: Count
    warmup: Count  # runs before those that count
    runs: Count
    statistic: Literal["median", "mean"]
    device: str


class Result(Struct, frozen=True, kw_only=True):
    """One run's outcome; null is what was not measured, or was no finite number."""

    name: str  # the recipe's
    status: Status
    engine: str
    mode: str
    device: str
    steps: Count = 0  # taken, those before a resume included
    epochs: NonNegative = 0.0  # a fraction where the run ended within one
    accuracy: Percent | None = None  # percent, on the evaluation set, as the next three
    top5: Percent | None = None
    loss: float | None = None
    samples: Count | None = None  # evaluated
    parameters: Count | None = None  # trainable
    size_mb: NonNegative | None = None  # stored bytes of the trainable parameters, in 10⁶
    file_mb: NonNegative | None = None  # of the exported file
    latency_ms: NonNegative | None = None
    latency: Latency | None = None
    score: float | None = None
    train_seconds: NonNegative | None = None
    images_per_second: NonNegative | None = None  # steady, of all ranks together
    validation_accuracy: Percent | None = None  # percent, on the part held back from training
    validation_loss: float | None = None
    best_step: Count | None = None  # by the validation part, or by the training loss where there is none
    skipped_images: Count = 0  # that could not be read, where the recipe allows it
    reason: str | None = None  # why the run stopped or failed


def result_schema() -> dict[str, Any]:
    """The JSON Schema of result.json."""
    return msgspec.json.schema(Result)
