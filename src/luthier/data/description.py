"""What a network must know of its data to be built and read; kept with a run, so that it needs the files no more."""

from __future__ import annotations

from msgspec import Struct

from luthier.data.pipeline import Pipeline
from luthier.data.registry import outline_of
from luthier.recipe import Data

__all__ = ["Description", "describe", "stated"]

Shape = tuple[int, int, int]


class Description(Struct, frozen=True, kw_only=True):
    """Height, width and channels are those after the transforms, of training and of evaluation."""

    name: str
    classes: tuple[str, ...]
    shape: Shape
    eval_shape: Shape
    steps_per_epoch: int  # 0 where only files could tell
    ranks: int = 1  # that took them together


def describe(config: Data, *, accumulate: int = 1) -> Description | None:
    """Of a set that is always the same, without its files; None of a set that only its files can tell."""
    outline = outline_of(config.name)
    if outline is None:
        return None
    kept = outline.num_train - round(config.validation * outline.num_train)
    step = config.batch_size * accumulate
    size = outline.shape[:2]
    return Description(
        name=config.name,
        classes=outline.classes,
        shape=(*Pipeline(config.train).fixed_size(size), outline.shape[2]),
        eval_shape=(*Pipeline(config.eval).fixed_size(size), outline.shape[2]),
        steps_per_epoch=kept // step if config.drop_remainder else -(-kept // step),
    )


def stated(config: Data) -> Description | None:
    """By the recipe's word alone, of files that are not here: enough to build a network and to time it."""
    shape, eval_shape = (Pipeline(steps).size(None) for steps in (config.train, config.eval))
    if not (config.num_classes and shape and eval_shape):
        return None
    channels = len(config.normalize.mean)
    return Description(
        name=config.name,
        classes=tuple(map(str, range(config.num_classes))),
        shape=(*shape, channels),
        eval_shape=(*eval_shape, channels),
        steps_per_epoch=0,
    )
