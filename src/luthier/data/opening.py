"""From a recipe's `data` to batches."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from luthier.data.batches import Batches, Share
from luthier.data.checking import checked
from luthier.data.dataset import DataSet
from luthier.data.file_loading import FileLoader, Unreadable
from luthier.data.holding_back import hold_back
from luthier.data.loading import Indices, Loader, MemoryLoader
from luthier.data.mixing import Mixing
from luthier.data.pipeline import Pipeline
from luthier.data.prefetch import Workers
from luthier.data.registry import open_source
from luthier.data.source import Part, Source
from luthier.errors import DataError
from luthier.recipe import Data

__all__ = ["open_data"]


def open_data(
    config: Data,
    *,
    seed: int,
    root: str | Path | None = None,
    rank: int = 0,
    ranks: int = 1,
    accumulate: int = 1,
    mixup: float = 0.0,
    cutmix: float = 0.0,
    source: Source | None = None,
) -> DataSet:
    """The data set that a recipe names, or in code the source that is given in its place."""
    if not 0 <= rank < ranks:
        raise DataError(f"Expected a rank from 0 to {ranks - 1}, got {rank}")
    given = source is not None
    source = checked(source) if source else open_source(config.name, path=config.path, root=root, at="data.name")
    _check_classes(config, source)
    mixing = Mixing(mixup=mixup, cutmix=cutmix, num_classes=len(source.classes), seed=seed)
    opening = _Opening(config=config, source=source, given=given, seed=seed, rank=rank, ranks=ranks)
    train = opening.training(accumulate=accumulate, mixing=mixing if mixing else None)
    data = DataSet(
        name=source.name,
        classes=source.classes,
        train=train,
        eval=opening.evaluation("eval"),
        validation=opening.evaluation("validation") if config.validation else None,
        unreadable=opening.unreadable,
        workers=opening.workers,
    )
    _check_normalize(config, data.shape[2])
    return data


@dataclass(frozen=True, kw_only=True)
class _Opening:
    """What all parts of one data set share while it is opened."""

    config: Data
    source: Source
    given: bool  # in code
    seed: int
    rank: int
    ranks: int
    unreadable: set[str] = field(default_factory=set)

    @cached_property
    def members(self) -> dict[str, Indices]:
        """Which images of the source each part has."""
        evaluation = np.arange(len(self.source.eval))[: self.config.eval_limit or None]
        if not self.config.validation:
            return {"train": np.arange(len(self.source.train)), "eval": evaluation}
        kept, held = hold_back(self.source.train.labels, self.config.validation, seed=self.seed)
        return {"train": kept, "validation": held, "eval": evaluation}

    def training(self, *, accumulate: int, mixing: Mixing | None) -> Batches:
        """The part that is shuffled, augmented and mixed."""
        share = Share(size=self.config.batch_size * accumulate, rank=self.rank, ranks=self.ranks)
        count = len(self.members["train"])
        if self.config.drop_remainder and share.joint > count:
            raise DataError(
                f"A step takes {share.joint:,} images of all ranks together, the training part has {count:,}",
                at="data.batch_size",
                hint="Lower it, or set data.drop_remainder = false.",
            )
        return self._batches("train", share, mixing)

    def evaluation(self, split: str) -> Batches:
        """A part that keeps its order."""
        return self._batches(split, Share(size=self.config.batch_size, rank=self.rank, ranks=self.ranks), None)

    def _batches(self, split: str, share: Share, mixing: Mixing | None) -> Batches:
        training = split == "train"
        pipeline = Pipeline(self.config.train if training else self.config.eval)
        loader = self._loader(split, pipeline)
        if self.ranks > len(loader):
            raise DataError(
                f"Expected at most {len(loader):,} ranks, one an image of the {split} part, got {self.ranks}"
            )
        batches = Batches(
            loader=loader,
            pipeline=pipeline,
            share=share,
            seed=self.seed,
            training=training,
            drop_remainder=self.config.drop_remainder,
            mixing=mixing,
            workers=self.workers if loader.slow else None,
        )
        return self._by_minddata(batches, split) if self.config.pipeline == "minddata" else batches

    def _by_minddata(self, batches: Batches, split: str) -> Batches:
        from luthier.data.minddata import MindDataBatches, open_stream

        if self.given:
            raise DataError("MindData reads files, not a source that is given in code", at="data.pipeline")
        stream = open_stream(self.config, self.source, split, self.members[split], cores=_num_cores())
        return MindDataBatches(**vars(batches), stream=stream)

    def _loader(self, split: str, pipeline: Pipeline) -> Loader:
        part: Part = self.source.eval if split == "eval" else self.source.train
        members = self.members[split]
        if isinstance(part.images, np.ndarray):
            return MemoryLoader(part.images, part.labels, members, pipeline)
        unreadable = Unreadable(skip=self.config.on_error == "skip", stand_in=split == "train", seen=self.unreadable)
        return FileLoader(part.images, part.labels, members, pipeline, unreadable)

    @cached_property
    def workers(self) -> Workers:
        """Threads, which start with the first task: a set that needs none has none."""
        number = self.config.workers or _num_cores()
        return Workers(pool=ThreadPoolExecutor(number, thread_name_prefix="luthier-data"), number=number)


def _num_cores() -> int:
    """That this process may use: a job may have fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_classes(config: Data, source: Source) -> None:
    if config.num_classes and config.num_classes != len(source.classes):
        raise DataError(
            f"{source.name} has {len(source.classes)} classes, the recipe says {config.num_classes}",
            at="data.num_classes",
            hint="Set data.num_classes=0 to go by the files.",
        )


def _check_normalize(config: Data, channels: int) -> None:
    for field_name in ("mean", "std"):
        numbers = getattr(config.normalize, field_name)
        if len(numbers) != channels:
            raise DataError(
                f"Expected {channels} number{'s' * (channels > 1)}, one a channel of the images, got {len(numbers)}",
                at=f"data.normalize.{field_name}",
                hint="For grey images, say: data.normalize = { mean = [0.5], std = [0.5] }." if channels == 1 else None,
            )
