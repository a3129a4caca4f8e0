"""Why a batch of the candidate's pipeline is not the reference's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from luthier.proof.network import Array
from luthier.proof.traps.registry import cause, trap, traps_of
from luthier.proof.verdict import Cause

__all__ = ["data_causes"]


def data_causes(theirs: Array, ours: Array) -> tuple[Cause, ...]:
    """Which change of the reference's array gives the candidate's."""
    found = []
    for item in traps_of("data"):
        for array, detail in item.function(theirs, ours):
            if array.shape == ours.shape and np.allclose(array, ours, rtol=1e-4, atol=1e-4):
                found.append(cause(item, exact=True, detail=detail))
                break
    return tuple(found[:3])


Guesses = Iterator[tuple[Array, str]]


def channel_axis(array: Array) -> int | None:
    """Where the channels lie, as far as a shape can tell: they are fewer than rows or columns."""
    if array.ndim != 4:
        return None
    return 1 if array.shape[1] <= array.shape[3] else 3


@trap("layout", subject="data", hint="MindSpore's images are (height, width, channels): end with HWC2CHW().")
def channels_last(theirs: Array, _ours: Array) -> Guesses:
    """The candidate's images have their channels on another axis."""
    if theirs.ndim == 4:
        yield theirs.transpose(0, 2, 3, 1), ""
        yield theirs.transpose(0, 3, 1, 2), ""
        yield theirs.transpose(0, 2, 3, 1).reshape(theirs.shape), "reshaped, not transposed"


@trap("channel-order", subject="data", hint="OpenCV reads BGR: convert to RGB, or turn mean and std, too.")
def bgr(theirs: Array, _ours: Array) -> Guesses:
    """The candidate's channels are in the opposite order."""
    axis = channel_axis(theirs)
    if axis is not None:
        yield np.flip(theirs, axis), ""


def fitted(theirs: Array, ours: Array, axes: tuple[int, ...]) -> Array | None:
    """The affine change over all but the given axes that brings the reference's nearest to the candidate's."""
    rest = tuple(axis for axis in range(theirs.ndim) if axis not in axes)
    x, y = theirs.astype(np.float64), ours.astype(np.float64)
    mean_x, mean_y = x.mean(rest, keepdims=True), y.mean(rest, keepdims=True)
    spread = ((x - mean_x) ** 2).mean(rest, keepdims=True)
    if not np.all(spread > 0):
        return None
    slope = ((x - mean_x) * (y - mean_y)).mean(rest, keepdims=True) / spread
    found: Array = mean_y + slope * (x - mean_x)
    return found


@trap(
    "normalise-scale",
    subject="data",
    hint="Normalize wants mean and std in the pixels' own range: 0–255 before ToTensor, 0–1 after it.",
)
def another_scale(theirs: Array, ours: Array) -> Guesses:
    """The candidate normalises by another mean and deviation, or not at all."""
    axis = channel_axis(theirs)
    if theirs.shape == ours.shape and axis is not None:
        found = fitted(theirs, ours, (axis,))
        if found is not None:
            yield found, ""


@trap(
    "normalise-layout",
    subject="data",
    hint="Normalize(is_hwc=…) must say where the channels are at that place: False after HWC2CHW or ToTensor.",
)
def another_axis(theirs: Array, ours: Array) -> Guesses:
    """The candidate normalises along another axis than the channels'."""
    if theirs.shape != ours.shape or theirs.ndim != 4:
        return
    channel = channel_axis(theirs)
    for axis in (1, 2, 3):
        if axis != channel and channel is not None:
            found = fitted(theirs, ours, (channel, axis))
            if found is not None:
                yield found, ""


@trap("order", subject="data", hint="Fix the order on both sides: shuffle=False, and one worker.")
def shuffled(theirs: Array, ours: Array) -> Guesses:
    """The candidate gives the same samples in another order."""
    if theirs.shape == ours.shape and theirs.ndim > 1:
        distance = np.abs(theirs[None] - ours[:, None]).reshape(len(ours), len(theirs), -1).max(-1)
        order = distance.argmin(1)
        if len(set(order.tolist())) == len(order):
            yield theirs[order], ""


@trap("labels", subject="data", hint="Count the classes from 0 on both sides.")
def shifted_labels(theirs: Array, ours: Array) -> Guesses:
    """The candidate's labels are shifted, or are rows of ones and zeros."""
    if theirs.ndim == 1 and np.issubdtype(theirs.dtype, np.integer):
        yield theirs + 1, "by 1"
        yield theirs - 1, "by −1"
        if ours.ndim == 2 and theirs.min(initial=0) >= 0 and theirs.max(initial=0) < ours.shape[1]:
            yield np.eye(ours.shape[1])[theirs], "one-hot"


@trap("remainder", subject="data", hint="Write batch_size and drop_remainder out on both sides.")
def another_size(theirs: Array, ours: Array) -> Guesses:
    """The candidate's batches have another size."""
    count = min(len(theirs), len(ours))
    if len(theirs) != len(ours) and theirs.shape[1:] == ours.shape[1:]:
        shown = np.full(ours.shape, np.nan)
        shown[:count] = theirs[:count]
        yield np.where(np.isnan(shown), ours, shown), f"{len(ours)} where the reference has {len(theirs)}"


@trap("resize", subject="data", hint="Compare pixels, not seeds: resizing differs between PIL and OpenCV.")
def other_pixels(theirs: Array, ours: Array) -> Guesses:
    """The candidate's pixels are near the reference's and not the same: another interpolation or rounding."""
    if theirs.shape == ours.shape and theirs.ndim == 4:
        apart = np.abs(theirs.astype(np.float64) - ours)
        if apart.mean() < 0.1 * theirs.std():
            yield ours, ""
