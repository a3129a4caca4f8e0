"""Errors in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ulps"]


def ulps(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """The greatest error in units in the last place of the greatest value: a sum's error is of its terms' size."""
    if found.size == 0 or not np.issubdtype(expected.dtype, np.floating):
        return 0.0
    scale = np.spacing(np.float32(max(float(np.abs(expected).max()), float(np.finfo(np.float32).tiny))))
    return float(np.abs(found.astype(np.float64) - expected.astype(np.float64)).max() / scale)
