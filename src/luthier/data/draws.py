"""Random numbers by seed, epoch and position alone, so that none is ever saved or skipped through.

Philox counts where other generators walk: the numbers of any position are reached by setting its counter. They are
taken raw, because NumPy promises never to change those, while it may change how it makes integers and permutations
of them; so the two engines' NumPy versions draw the same too.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

__all__ = ["Purpose", "Raw", "Stream", "generator", "integers", "permutation", "uniform"]

Raw = NDArray[np.uint64]
NUMBERS_A_COUNT = 4  # Philox4x64 gives four at each value of its counter


class Purpose(IntEnum):
    """What a stream is for; each has numbers of its own, so that one never shifts another."""

    ORDER = 0
    HELD_BACK = 1
    MIXING = 2
    SHARES = 3
    MINDDATA = 4  # the seed of its own numbers
    TRANSFORM = 16  # the first transform of the list; the others follow


def generator(seed: int, epoch: int, purpose: int, *, counter: int = 0) -> Philox:
    """The key is the three numbers themselves, side by side: no two uses meet."""
    return Philox(key=np.array([seed, epoch << 32 | purpose], np.uint64), counter=counter)


class Stream:
    """So many numbers a position, read from position `start` on; skipping costs nothing, making one 20 µs."""

    def __init__(self, seed: int, epoch: int, purpose: int, *, width: int, start: int = 0) -> None:
        count, rest = divmod(start * width, NUMBERS_A_COUNT)
        self._bits = generator(seed, epoch, purpose, counter=count)
        self._bits.random_raw(rest)
        self._width = width

    def take(self, count: int) -> Raw:
        """The numbers of the next positions, a row each."""
        raw: Raw = self._bits.random_raw(count * self._width).reshape(count, self._width)
        return raw


def uniform(raw: Raw) -> NDArray[np.float64]:
    """From 0 up to but not including 1, in steps of 2⁻⁵³."""
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(raw: Raw, bound: int) -> NDArray[np.intp]:
    """From 0 up to but not including `bound`, for bounds below 2³²; their bias is below 2⁻³² of the bound."""
    return ((raw >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.intp)


def permutation(seed: int, epoch: int, size: int) -> NDArray[np.intp]:
    """The order of an epoch."""
    return generator(seed, epoch, Purpose.ORDER).random_raw(size).argsort(kind="stable")
