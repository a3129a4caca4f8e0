"""The validation part: a share of the training part, drawn by the seed, the same share of every class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from luthier.data.batch import Labels
from luthier.data.draws import Purpose, generator
from luthier.errors import DataError

__all__ = ["hold_back"]

Indices = NDArray[np.intp]


def hold_back(labels: Labels, share: float, *, seed: int) -> tuple[Indices, Indices]:
    """What stays for training and what is held back, each in the source's order."""
    count = round(share * len(labels))
    if not 0 < count < len(labels):
        left = "nothing to validate on" if count == 0 else "nothing to train on"
        raise DataError(f"A share of {share:g} of {len(labels):,} images leaves {left}", at="data.validation")
    numbers = generator(seed, 0, Purpose.HELD_BACK).random_raw(len(labels))
    by_class = np.lexsort((numbers, labels))
    starts = np.searchsorted(labels[by_class], np.arange(labels.max() + 1))
    place_in_class = np.empty(len(labels), np.intp)
    place_in_class[by_class] = np.arange(len(labels)) - starts[labels[by_class]]
    held = place_in_class < _quotas(np.bincount(labels), count)[labels]
    return np.flatnonzero(~held), np.flatnonzero(held)


def _quotas(sizes: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Each class's number, rounded so that they sum to the whole: the largest remainders go up."""
    exact = sizes * (count / sizes.sum())
    quotas: Indices = np.floor(exact).astype(np.intp)
    largest: Indices = np.argsort(quotas - exact, kind="stable")[: count - quotas.sum()]
    quotas[largest] += 1
    return quotas
