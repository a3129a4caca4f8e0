"""All that was measured of one network."""

from __future__ import annotations

from msgspec import Struct

from luthier.measure.parameters import Layer, Sizes
from luthier.measure.timing import Timings
from luthier.recipe import Score
from luthier.store import Latency

__all__ = ["Measurement"]


class Measurement(Struct, frozen=True, kw_only=True):
    """A row of the table, and what stands behind it; null is what was not measured."""

    name: str  # the run's, or the recipe's
    run: str | None  # its folder
    file: str | None = None  # where what was measured is an exported file
    step: int | None  # the checkpoint's
    network: str
    batch_size: int
    epochs: float
    learning_rate: float
    schedule: str
    optimizer: str
    parameters: int  # trainable
    size_mb: float  # stored bytes of the trainable parameters, in 10⁶; of a file, all that it stores
    file_mb: float | None = None  # of the ONNX file
    latency_ms: float | None = None
    latency: Latency | None = None
    timings: Timings | None = None
    accuracy: float | None = None  # percent, on the evaluation set, as the next three
    top5: float | None = None
    loss: float | None = None
    samples: int | None = None
    score: float | None = None
    protocol: Score  # the score's weights, and how latency was to be taken
    layers: tuple[Layer, ...]
    sizes: Sizes
    notes: tuple[str, ...] = ()  # what was left out, and why
