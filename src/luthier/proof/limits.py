"""How far a number may be off: a few times what the reference's own rounding costs it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from luthier.proof.network import Array

__all__ = ["ROUNDINGS", "TIMES", "TIMES_DISTURBED", "Judged", "judge", "worst"]

TIMES = 12.0  # a sum in another order costs more than the reference's own order did
TIMES_DISTURBED = 4.0
ROUNDINGS = 32.0  # of a disturbance that shows what a kink on the other side costs
GRAIN = 6.0  # roundings of the greatest value: below it a noise that was measured is luck


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The greatest error, the noise beside it, and what was allowed."""

    error: float
    noise: float
    limit: float
    scale: float

    @property
    def differs(self) -> bool:
        """Beyond the limit, or not a number where the reference has one."""
        return not self.error <= self.limit

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return self.error / self.limit if self.limit > 0 else (0.0 if self.error == 0 else float("inf"))


def judge(
    own: Array, exact: Array, noisy: Sequence[Array], *, unit: float, scale: float = 0.0, times: float = TIMES
) -> Judged:
    """The candidate's array against the exact one; `noisy` are the reference's, rounded in one way or another."""
    exact = exact.astype(np.float64)
    greatest = max(float(np.abs(exact).max(initial=0.0)), scale)
    noise = max([_distance(array, exact) for array in noisy] + [GRAIN * unit * greatest])
    return Judged(error=_distance(own, exact), noise=noise, limit=times * noise, scale=greatest)


def _distance(one: Array, other: Array) -> float:
    """The greatest difference; infinities and NaN that stand in the same places count as equal."""
    if one.shape != other.shape:
        return float("inf")
    if one.size == 0:
        return 0.0
    one = one.astype(np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(same, 0.0, np.abs(one - other))
    return float(np.nan_to_num(difference, nan=np.inf).max())


def worst(found: Sequence[Judged]) -> Judged:
    """The one farthest beyond, or nearest to, its limit."""
    return max(found, key=lambda judged: judged.ratio)
