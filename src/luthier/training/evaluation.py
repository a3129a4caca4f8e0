"""What a network is worth on a part of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import fsum
from typing import Protocol

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from luthier.data import Batch
from luthier.engines import Group

__all__ = ["Epochs", "Metrics", "evaluate", "evaluate_together"]

Logits = Callable[[NDArray[np.uint8]], NDArray[np.float32]]


class Epochs(Protocol):
    """A part of a data set, or the beginning of one."""

    def epoch(self, epoch: int, /) -> Iterator[Batch]:
        """Its batches."""


class Metrics(Struct, frozen=True, kw_only=True):
    """Percentages are percentages; `confusion[true][predicted]` counts images."""

    accuracy: float
    top5: float | None  # where there are more than five classes
    loss: float  # mean cross-entropy against the plain labels
    samples: int
    confusion: tuple[tuple[int, ...], ...]


class Tally(Struct, frozen=True, kw_only=True):
    """What one pass counted."""

    losses: list[float]  # of every image
    top5: int
    confusion: list[list[int]]

    def metrics(self) -> Metrics:
        """As percentages. The losses are summed exactly, so that neither batches nor ranks show."""
        total, confusion = len(self.losses), self.confusion
        return Metrics(
            accuracy=100.0 * sum(row[i] for i, row in enumerate(confusion)) / max(total, 1),
            top5=100.0 * self.top5 / max(total, 1) if len(confusion) > 5 else None,
            loss=fsum(self.losses) / max(total, 1),
            samples=total,
            confusion=tuple(map(tuple, confusion)),
        )


def evaluate(logits_of: Logits, batches: Epochs) -> Metrics:
    """One pass in order over every image."""
    return _tally(logits_of, batches).metrics()


def evaluate_together(logits_of: Logits, batches: Epochs, group: Group) -> Metrics:
    """Each rank passes over its share, and all have the metrics of the whole."""
    own = _tally(logits_of, batches)
    if group.ranks == 1:
        return own.metrics()
    tallies = [msgspec.msgpack.decode(payload, type=Tally) for payload in group.gather(msgspec.msgpack.encode(own))]
    counted = [np.array(tally.confusion, np.int64) for tally in tallies if tally.losses]
    return Tally(
        losses=[loss for tally in tallies for loss in tally.losses],
        top5=sum(tally.top5 for tally in tallies),
        confusion=np.sum(counted, axis=0).tolist() if counted else [],
    ).metrics()


def _tally(logits_of: Logits, batches: Epochs) -> Tally:
    losses: list[float] = []
    top5 = 0
    confusion: NDArray[np.int64] | None = None
    for batch in batches.epoch(0):
        logits = logits_of(batch.images).astype(np.float64)
        labels = batch.labels.astype(np.intp)
        classes = logits.shape[1]
        if confusion is None:
            confusion = np.zeros((classes, classes), np.int64)
        np.add.at(confusion, (labels, logits.argmax(axis=1)), 1)
        own = logits[np.arange(len(labels)), labels]
        top = logits.max(axis=1)
        losses += (np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top - own).tolist()
        top5 += int(np.count_nonzero((logits > own[:, None]).sum(axis=1) < 5))
    return Tally(losses=losses, top5=top5, confusion=[] if confusion is None else confusion.tolist())
