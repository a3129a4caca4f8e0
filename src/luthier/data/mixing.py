"""Mixup and CutMix: whole batches whose images, and labels with them, are blends of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Philox, RandomState
from numpy.typing import NDArray

from luthier.data.batch import Batch, Images, Labels
from luthier.data.draws import Purpose, Raw, Stream, generator, integers, uniform
from luthier.data.loading import Loaded

__all__ = ["Mixing"]

Element = TypeVar("Element", bound=np.generic)
LEVELS = 256  # in which mixup blends, so that a blend of bytes stays in 16 bits
EVEN = 0.5  # of the batches each kind has, where a recipe asks for both


@dataclass(frozen=True, kw_only=True)
class Mixing:
    """One share a batch, as in both papers. Each image is blended with the one half a batch further on.

    Half a batch, because with n ranks that is half of the joint batch too where a rank's share is even: the ranks
    then see together what one would see alone.
    """

    mixup: float  # the Beta distribution's parameter; 0 for none
    cutmix: float
    num_classes: int
    seed: int

    def __bool__(self) -> bool:
        return self.mixup > 0 or self.cutmix > 0

    def epoch(self, epoch: int, steps: int) -> MixedEpoch:
        """The shares and windows of an epoch's steps."""
        bits = generator(self.seed, epoch, Purpose.SHARES)
        return MixedEpoch(
            raw=Stream(self.seed, epoch, Purpose.MIXING, width=3).take(steps),
            mixup_shares=_beta(bits, self.mixup, steps),
            cutmix_shares=_beta(bits, self.cutmix, steps),
            mixing=self,
        )


def _beta(bits: Philox, parameter: float, count: int) -> NDArray[np.float64]:
    """NumPy has frozen RandomState's distributions, so the shares outlive its versions; Generator's may change."""
    return RandomState(bits).beta(parameter, parameter, count) if parameter else np.ones(count)


@dataclass(frozen=True, kw_only=True)
class MixedEpoch:
    """The random numbers of an epoch, a row a step."""

    raw: Raw
    mixup_shares: NDArray[np.float64]
    cutmix_shares: NDArray[np.float64]
    mixing: Mixing

    def batch(self, step: int, loaded: Loaded) -> Batch:
        """The batch of a step, mixed."""
        images, labels = loaded
        if self._cuts(step):
            images, share = self._cut(images, step)
        else:
            images, share = _blend(images, float(self.mixup_shares[step]))
        return Batch(images=images, labels=_rows(labels, share, self.mixing.num_classes))

    def _cuts(self, step: int) -> bool:
        if self.mixing.mixup and self.mixing.cutmix:
            return bool(uniform(self.raw[step, 0]) < EVEN)
        return self.mixing.cutmix > 0

    def _cut(self, images: Images, step: int) -> tuple[Images, float]:
        """A window around a random point, its area the partner's share before it is cut off at the edge."""
        height, width = images.shape[1:3]
        side = np.sqrt(1.0 - self.cutmix_shares[step])
        rows = _extent(int(integers(self.raw[step, 1], height)), round(height * side), height)
        columns = _extent(int(integers(self.raw[step, 2], width)), round(width * side), width)
        mixed = images.copy()
        mixed[:, rows, columns] = _partners(images)[:, rows, columns]
        area = (rows.stop - rows.start) * (columns.stop - columns.start)
        return mixed, 1.0 - area / (height * width)


def _extent(center: int, length: int, limit: int) -> slice:
    start = center - length // 2
    return slice(max(start, 0), min(start + length, limit))


def _partners(values: NDArray[Element]) -> NDArray[Element]:
    return np.roll(values, -(len(values) // 2), axis=0)


def _blend(images: Images, share: float) -> tuple[Images, float]:
    """Rounded to bytes; the share is rounded to one of 256 levels first, for the labels too."""
    level = round(share * LEVELS)
    mixed = images.astype(np.uint16) * np.uint16(level)
    mixed += _partners(images).astype(np.uint16) * np.uint16(LEVELS - level)
    mixed += np.uint16(LEVELS // 2)
    return (mixed >> 8).astype(np.uint8), level / LEVELS


def _rows(labels: Labels, share: float, num_classes: int) -> NDArray[np.float32]:
    rows = np.zeros((len(labels), num_classes), np.float32)
    each = np.arange(len(labels))
    rows[each, labels] += np.float32(share)
    rows[each, _partners(labels)] += np.float32(1.0 - share)
    return rows
