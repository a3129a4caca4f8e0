"""The distribution of an array's values, in the form that event files carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Histogram", "histogram"]

BINS = 64  # TensorBoard draws 30 of its own from them


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """The finite values in bins of equal width (`limits` are their right edges), the others by number."""

    minimum: float
    maximum: float
    count: int
    total: float
    total_squares: float
    limits: NDArray[np.float64]
    counts: NDArray[np.float64]
    not_finite: dict[str, int]  # "nan", "positive-infinity", "negative-infinity": those that occur


def histogram(values: ArrayLike) -> Histogram:
    """An array that holds nothing finite gives a histogram of nothing; it is no error, since it is worth seeing."""
    array = np.asarray(values, np.float64).ravel()
    finite = array[np.isfinite(array)]
    limits, counts = _bins(finite) if finite.size else (np.zeros(0), np.zeros(0))
    with np.errstate(over="ignore"):
        total, squares = float(finite.sum()), float(np.square(finite).sum())
    return Histogram(
        minimum=float(finite.min()) if finite.size else 0.0,
        maximum=float(finite.max()) if finite.size else 0.0,
        count=finite.size,
        total=total,
        total_squares=squares,
        limits=limits,
        counts=counts,
        not_finite=_not_finite(array) if finite.size < array.size else {},
    )


def _bins(finite: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return np.array([high]), np.array([float(finite.size)])
    scale = 1.0 if np.isfinite(high - low) else 0.5  # a range above the greatest float64 is counted at half its width
    scaled, span = finite * scale, (low * scale, high * scale)
    counts: NDArray[Any]
    try:
        counts, edges = np.histogram(scaled, BINS, range=span)
    except ValueError:  # the range holds fewer floats than there are bins
        counts, edges = np.histogram(scaled, np.unique(np.linspace(*span, BINS + 1)))
    return edges[1:] / scale, counts.astype(np.float64)


def _not_finite(array: NDArray[np.float64]) -> dict[str, int]:
    kinds = {
        "nan": np.isnan(array),
        "positive-infinity": np.isposinf(array),
        "negative-infinity": np.isneginf(array),
    }
    return {kind: int(found.sum()) for kind, found in kinds.items() if found.any()}
