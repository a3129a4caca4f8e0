"""What a probe tells of an array: enough for every watch rule, small enough for every step."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["Statistics", "statistics_of"]


class Statistics(Struct, frozen=True, kw_only=True):
    """Counts over all values; the moments and limits over the finite ones, NaN where there are none."""

    count: int
    num_nan: int
    num_infinite: int
    num_zero: int
    minimum: float
    maximum: float
    mean: float
    abs_mean: float
    std: float


def statistics_of(array: NDArray[Any]) -> Statistics:
    """Summed in float64: a float32 sum over a large layer loses its last digits."""
    values = np.asarray(array).ravel()
    finite = np.isfinite(values)
    nan = int(np.count_nonzero(np.isnan(values)))
    kept = values[finite] if not finite.all() else values
    numbers = (float(kept.min()), float(kept.max()), *_moments(kept)) if kept.size else (float("nan"),) * 5
    return Statistics(
        count=values.size,
        num_nan=nan,
        num_infinite=values.size - int(np.count_nonzero(finite)) - nan,
        num_zero=int(np.count_nonzero(values == 0)),
        minimum=numbers[0],
        maximum=numbers[1],
        mean=numbers[2],
        abs_mean=numbers[3],
        std=numbers[4],
    )


def _moments(values: NDArray[Any]) -> tuple[float, float, float]:
    wide = values.astype(np.float64)
    return float(wide.mean()), float(np.abs(wide).mean()), float(wide.std())
