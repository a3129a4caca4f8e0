"""The curve of a learning-rate range test: smoothed, cut where it diverges, and what it says of the rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

__all__ = ["RangeCurve", "read_curve", "smoothed"]

Curve = NDArray[np.float64]

BEGIN = 0.1  # the share of the test at whose rates nothing is learnt yet: what the fall is measured from
CLEAR = 4.0  # times the noise of the smoothed curve, so that a fall or a rise counts
SPIKE = 5
FALLEN = 0.1  # the share of the whole fall at which the interval begins


class RangeCurve(Struct, frozen=True, kw_only=True):
    """The loss at each learning rate, over all segments; it ends where the training diverged."""

    learning_rates: tuple[float, ...]
    losses: tuple[float, ...]  # the segments' mean, step by step
    smooth: tuple[float, ...]
    low: float | None  # between these the loss falls; none where it never clearly does
    high: float | None
    best: float | None  # where it falls fastest for its rate, within the two
    cut: str  # why the curve ends where it does

    @property
    def interval(self) -> tuple[float, float] | None:
        """The learning rates worth trying."""
        return (self.low, self.high) if self.low is not None and self.high is not None else None


def smoothed(values: ArrayLike, window: int) -> Curve:
    """A centred moving average, narrower at both ends, so that neither is pulled away."""
    raw = np.asarray(values, np.float64)
    sums = np.concatenate([[0.0], np.cumsum(raw)])
    half = np.minimum(max(window, 1) // 2, np.minimum(np.arange(len(raw)), np.arange(len(raw))[::-1]))
    at = np.arange(len(raw))
    averaged: Curve = (sums[at + half + 1] - sums[at - half]) / (2 * half + 1)
    return averaged


def _without_spikes(losses: Curve) -> Curve:
    """Each loss becomes the median of the five around it: one bad batch is no divergence."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(losses, SPIKE // 2, mode="edge"), SPIKE)
    medians: Curve = np.median(around, axis=1)
    return medians


def read_curve(
    learning_rates: Sequence[float], segments: Sequence[Sequence[float]], *, window: int, max_thres: int
) -> RangeCurve:
    """Each segment ends at its first loss that is not finite; the mean is taken as far as half of them reach."""
    finite = [_finite(segment) for segment in segments]
    length = int(np.median([len(segment) for segment in finite]))
    kept = [segment[:length] for segment in finite if len(segment) >= length]
    if length < 3:
        return _empty(learning_rates, length, "the loss was not finite from the first rates on")
    losses = np.mean(np.asarray(kept, np.float64), axis=0)
    window = max(1, min(window, length // 8))
    smooth = smoothed(_without_spikes(losses), window)
    apart = np.abs(losses - smooth)  # their median: at the end of the test they grow without limit
    noise = 1.48 * float(np.median(apart)) / np.sqrt(window) + 1e-12
    end = _diverges(smooth, noise, max_thres)
    cut = "the loss rose" if end < length else "" if length == len(learning_rates) else "the loss was not finite"
    rates, losses, smooth = np.asarray(learning_rates[:end], np.float64), losses[:end], smooth[:end]
    low, best, high = _interval(rates, smooth, noise)
    return RangeCurve(
        learning_rates=tuple(rates.tolist()),
        losses=tuple(losses.tolist()),
        smooth=tuple(smooth.tolist()),
        low=low,
        high=high,
        best=best,
        cut=cut,
    )


def _finite(losses: Sequence[float]) -> Sequence[float]:
    wrong = np.flatnonzero(~np.isfinite(np.asarray(losses, np.float64)))
    return losses[: wrong[0]] if len(wrong) else losses


def _diverges(smooth: Curve, noise: float, max_thres: int) -> int:
    """Where the curve has been clearly above its least for `max_thres` steps: all later rates are held to diverge."""
    least, above = smooth[0], 0
    for index, value in enumerate(smooth):
        if value < least:
            least, above = value, 0
        elif value > least + CLEAR * noise:
            above += 1
            if above > max_thres:
                return index + 1
    return len(smooth)


def _interval(rates: Curve, smooth: Curve, noise: float) -> tuple[float | None, float | None, float | None]:
    begin = float(np.mean(smooth[: max(1, int(BEGIN * len(smooth)))]))
    bottom = int(np.argmin(smooth))
    fall = begin - float(smooth[bottom])
    if fall < CLEAR * noise or bottom < 2:
        return None, None, None
    first = int(np.flatnonzero(smooth[: bottom + 1] > begin - FALLEN * fall)[-1])
    slopes = np.gradient(smooth[: bottom + 1], np.log(rates[: bottom + 1]))
    steepest = first + int(np.argmin(slopes[first:]))
    return float(rates[first]), float(rates[steepest]), float(rates[bottom])


def _empty(rates: Sequence[float], length: int, why: str) -> RangeCurve:
    return RangeCurve(
        learning_rates=tuple(map(float, rates[:length])), losses=(), smooth=(), low=None, high=None, best=None, cut=why
    )
