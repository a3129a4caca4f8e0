"""The learning rate climbs from far too low to far too high in a few hundred steps; the loss tells which rates help."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from luthier.data import Batch, DataSet
from luthier.engines import NonFinite, Session
from luthier.tuning.curves import RangeCurve, read_curve

__all__ = ["RangeTest", "endless", "range_test"]

Progress = Callable[[str], None]


class RangeTest(Struct, frozen=True, kw_only=True):
    """How the test is done; the names are those that MoXing's search gave them."""

    total_steps: int
    init_learning_rate: float
    end_learning_rate: float
    warmup_steps: int = 0
    warmup_lr: float = 0.01
    window: int = 50
    max_thres: int = 10
    segments: int = 3  # each on other batches, from the same weights

    @property
    def learning_rates(self) -> tuple[float, ...]:
        """Geometric, since it is the rate's order of magnitude that is looked for."""
        rates = np.geomspace(self.init_learning_rate, self.end_learning_rate, self.total_steps)
        return tuple(rates.tolist())


def range_test(session: Session, data: DataSet, test: RangeTest) -> RangeCurve:
    """The session is put back to the bit, whatever happened in between."""
    before = session.state()
    try:
        losses = []
        for segment in range(test.segments):
            session.load(before)
            losses.append(_segment(session, endless(data, segment), test))
    finally:
        session.load(before)
    return read_curve(test.learning_rates, losses, window=test.window, max_thres=test.max_thres)


def endless(data: DataSet, first_epoch: int = 0) -> Iterator[Batch]:
    """Training batches, epoch after epoch."""
    epoch = first_epoch
    while True:
        yield from data.train.epoch(epoch)
        epoch += 1


def _segment(session: Session, batches: Iterator[Batch], test: RangeTest) -> list[float]:
    """Losses rate by rate, the one that is not finite included: it says where the segment ends."""
    losses: list[float] = []
    try:
        for _ in range(test.warmup_steps):
            float(session.step(next(batches), test.warmup_lr))
        for rate in test.learning_rates:
            losses.append(float(session.step(next(batches), rate)))
            if not np.isfinite(losses[-1]):
                break
    except NonFinite as fault:
        losses.append(fault.loss)
    return losses
