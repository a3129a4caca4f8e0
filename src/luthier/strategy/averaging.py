"""The moving average of the weights, as numbers."""

from __future__ import annotations

__all__ = ["average_decay"]


def average_decay(decay: float, updates: int) -> float:
    """The share of the old average that an update keeps; `updates` counts those so far.

    It rises as (1 + t)/(10 + t): at a constant decay the average would hold on to the untrained weights for
    1/(1 − decay) steps.
    """
    return min(decay, (1.0 + updates) / (10.0 + updates))
