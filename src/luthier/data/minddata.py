"""Batches by MindSpore's C++ pipeline in place of ours: `data.pipeline = "minddata"`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from luthier.data.batches import Batches
from luthier.data.draws import Purpose, generator
from luthier.data.loading import Indices, Loaded
from luthier.data.minddata_files import PartFiles, part_files
from luthier.data.pipeline import Pipeline
from luthier.data.source import Part, Samples, Source, spread
from luthier.data.transforms import Size, operation
from luthier.errors import DataError, MissingPackage
from luthier.recipe import ColorJitter, Cutout, Data, RandomCrop, RandomFlip, RandomResizedCrop, Transform

__all__ = ["MindDataBatches", "Stage", "Stream", "open_stream"]

SAID, CRITICAL = "GLOG_v", "4"
RANDOM = (ColorJitter, Cutout, RandomCrop, RandomFlip, RandomResizedCrop)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A transform, and the images that reach it."""

    record: Transform
    like: Size  # of the first of them
    size: Size | None  # where all have one
    shrinks: bool  # the first of them, by this transform

    @property
    def random(self) -> bool:
        """Whether it draws."""
        return isinstance(self.record, RANDOM)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stream:
    """A part as MindData reads it."""

    files: PartFiles
    part: Part
    members: Indices  # images of the files that belong to the part
    stages: tuple[Stage, ...]
    channels: int
    readers: int  # threads that read, decode and do what is not random
    changers: int  # threads that do what is random: each draws for itself, so that their number decides the bits

    @property
    def draws(self) -> bool:
        """Whether there is a random transform."""
        return any(stage.random for stage in self.stages)


class Reader(Protocol):
    """What gives a stream's batches, by the images' numbers in the files."""

    def __call__(self, stream: Stream, members: Indices, *, size: int, seed: int) -> Iterator[Loaded]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class MindDataBatches(Batches):
    """The same images in the same order; augmented by MindData's own random numbers, begun anew for every epoch.

    Where an epoch is taken up in the middle, what comes before is computed once more and thrown away, because its
    random numbers are reached in no other way.
    """

    stream: Stream

    def loads(self, epoch: int, start: int) -> Iterator[Loaded]:
        """The batches of an epoch from step `start` on, not mixed yet."""
        before = start if self.stream.draws else 0
        first = (start - before) * self.share.joint + self.share.rank
        order = self._order(epoch)
        places = np.arange(first, self._positions, self.share.ranks) % len(order)
        batches = self._read(order[places], self.share.size, epoch if self.training else 0)
        for number, batch in enumerate(batches):
            if number >= before:
                yield batch

    def sample(self, count: int) -> Samples:
        """Images as the network sees them, unmixed: the first of training, or spread over an evaluation part."""
        count = min(count, len(self.loader))
        chosen = np.array(range(count) if self.training else spread(len(self.loader), count))
        [loaded] = self._read(self._order(0)[chosen], count, 0)
        return Samples(loaded.images, loaded.labels)

    def _read(self, members: Indices, size: int, epoch: int) -> Iterator[Loaded]:
        bits = generator(self.seed, epoch, Purpose.MINDDATA).random_raw(self.share.ranks)[self.share.rank]
        return self._reader(self.stream, self.stream.members[members], size=size, seed=int(bits) >> 33 << 1)

    @cached_property
    def _reader(self) -> Reader:
        """Once it is known that MindData finds the same images."""
        with _quiet():
            from luthier.data.mindspore import check, read

        check(self.stream)
        return read


@contextmanager
def _quiet() -> Iterator[None]:
    """What MindSpore says of an error is told in ours; it reads the setting when it is loaded, the user's own first."""
    ours = "mindspore" not in sys.modules and SAID not in os.environ
    if ours:
        os.environ[SAID] = CRITICAL
    try:
        yield
    finally:
        if ours:  # the processes that this one starts may say more
            del os.environ[SAID]


def open_stream(config: Data, source: Source, split: str, members: Indices, *, cores: int) -> Stream:
    """A part for MindData, or the reason why it cannot be one; MindSpore itself is loaded with the first batch."""
    if find_spec("mindspore") is None:
        raise MissingPackage(
            'data.pipeline = "minddata" needs MindSpore', at="data.pipeline", hint="pip install 'luthier[mindspore]'"
        )
    if config.workers > cores:
        raise DataError(f"MindData takes at most {cores} workers here, got {config.workers}", at="data.workers")
    held_in = "eval" if split == "eval" else "train"
    part = source.part(held_in)
    records = config.train if split == "train" else config.eval
    if isinstance(part.images, np.ndarray):
        height, width, channels = part.images.shape[1:]
        stages = _stages(records, (height, width), one_size=True)
    else:
        channels = 3
        stages = _stages(records, part.images.size(int(members[0])), one_size=Pipeline(records).size(None) is None)
    _refuse(stages, channels, at=f"data.{'train' if split == 'train' else 'eval'}")
    return Stream(
        files=part_files(config.name, source, held_in),
        part=part,
        members=members,
        stages=stages,
        channels=channels,
        readers=config.workers or cores,
        changers=config.workers or 1,
    )


def _stages(records: tuple[Transform, ...], first: Size, *, one_size: bool) -> tuple[Stage, ...]:
    stages = []
    known: Size | None = first if one_size else None
    like: Size | None = first
    for record in records:
        before, step = like, operation(record)
        like = step.size(like)
        assert before is not None, "an image has a size"
        assert like is not None, "an image keeps a size"
        stages.append(Stage(record=record, like=before, size=known, shrinks=like[0] * like[1] < before[0] * before[1]))
        known = step.size(known)
    return tuple(stages)


def _refuse(stages: tuple[Stage, ...], channels: int, *, at: str) -> None:
    for position, stage in enumerate(stages):
        if isinstance(stage.record, ColorJitter) and channels != 3:
            raise DataError(
                f"MindData has color-jitter for images of 3 channels, these have {channels}", at=f"{at}.{position}"
            )
        if isinstance(stage.record, RandomCrop) and stage.record.size is None and stage.size is None:
            raise DataError(
                "MindData has no random-crop of each image's own size where the sizes vary",
                at=f"{at}.{position}",
                hint="Give it a size, or let random-resized-crop stand in its place.",
            )
