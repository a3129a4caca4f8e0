"""A part of a data set as the batches of one rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from luthier.data.batch import Batch
from luthier.data.draws import permutation
from luthier.data.loading import Indices, Loaded, Loader, Request
from luthier.data.mixing import Mixing
from luthier.data.pipeline import Pipeline
from luthier.data.prefetch import Workers
from luthier.data.source import Samples, spread
from luthier.errors import DataError

__all__ = ["Batches", "Share"]


@dataclass(frozen=True, kw_only=True)
class Share:
    """What a step takes: `size` images of each of `ranks`, of which this is number `rank`."""

    size: int
    rank: int = 0
    ranks: int = 1

    @property
    def joint(self) -> int:
        """Of all ranks together."""
        return self.size * self.ranks


@dataclass(frozen=True, kw_only=True, eq=False)
class Batches:
    """Batches by epoch and step; nothing is remembered between them.

    Every image of an epoch has a position, counted over all ranks: rank r of n takes positions r, r+n, r+2n … Order
    and augmentation belong to the position, so n ranks see what one rank with n times the batch sees.

    Training shuffles by epoch. Where it drops no remainder, and the images do not divide among the ranks, the first of
    the order come again at the end, so that no rank is left without. Evaluation keeps the order and repeats nothing.
    """

    loader: Loader
    pipeline: Pipeline
    share: Share
    seed: int
    training: bool
    drop_remainder: bool = False
    mixing: Mixing | None = None
    workers: Workers | None = None  # where the loader is slow

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of the images."""
        return self.loader.shape

    @property
    def images_per_step(self) -> int:
        """Of all ranks together."""
        return self.share.joint

    @property
    def steps(self) -> int:
        """Batches an epoch, on this rank; in training the same on every rank."""
        return -(-(self._positions - self.share.rank) // self.share.joint)

    @property
    def samples(self) -> int:
        """Images an epoch, on this rank."""
        return -(-(self._positions - self.share.rank) // self.share.ranks)

    @property
    def _positions(self) -> int:
        """Images an epoch, over all ranks."""
        count = len(self.loader)
        if not self.training:
            return count
        unit = self.share.joint if self.drop_remainder else self.share.ranks
        return count // unit * unit if self.drop_remainder else -(-count // unit) * unit

    def of_all_ranks(self) -> Batches:
        """The same part as one process alone would see it."""
        return replace(self, share=Share(size=self.share.size))

    def shared_by(self, ranks: int) -> Batches:
        """The same part as the first of so many ranks would see it."""
        return replace(self, share=Share(size=self.share.size, ranks=ranks))

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """The batches of an epoch from step `start` on; what comes before is not computed."""
        if not 0 <= start <= self.steps:
            raise DataError(f"Expected a step from 0 to {self.steps}, got {start}")
        return self._batches(self.loads(epoch, start), epoch, start)

    def loads(self, epoch: int, start: int) -> Iterator[Loaded]:
        """The same, not mixed yet."""
        requests = self._requests(epoch, start)
        if self.workers:
            return self.workers.load(self.loader, requests, size=self.share.size)
        return map(self.loader, requests)

    def _batches(self, loads: Iterator[Loaded], epoch: int, start: int) -> Iterator[Batch]:
        if self.mixing:
            mixed = self.mixing.epoch(epoch, self.steps)
            yield from (mixed.batch(step, loaded) for step, loaded in enumerate(loads, start))
            return
        for images, labels in loads:
            if len(images):  # none is left where evaluation left out all files of a batch
                yield Batch(images=images, labels=labels)

    def _requests(self, epoch: int, start: int) -> Iterator[Request]:
        order = self._order(epoch)
        first = start * self.share.joint
        streams = self.pipeline.streams(self.seed, epoch if self.training else 0, first)
        for begin in range(first, self._positions, self.share.joint):
            end = min(begin + self.share.joint, self._positions)
            draws = tuple(stream.take(end - begin)[self.share.rank :: self.share.ranks] for stream in streams)
            members = order[np.arange(begin + self.share.rank, end, self.share.ranks) % len(order)]
            if len(members):
                yield Request(members, draws)

    def _order(self, epoch: int) -> Indices:
        if self.training:
            return permutation(self.seed, epoch, len(self.loader))
        return np.arange(len(self.loader))

    def sample(self, count: int) -> Samples:
        """Images as the network sees them, unmixed: the first of training, or spread over an evaluation part."""
        chosen = np.array(range(min(count, len(self.loader))) if self.training else spread(len(self.loader), count))
        streams = self.pipeline.streams(self.seed, 0, 0)
        draws = tuple(stream.take(int(chosen[-1]) + 1)[chosen] for stream in streams)
        images, labels = self.loader(Request(self._order(0)[chosen], draws))
        return Samples(images, labels)
