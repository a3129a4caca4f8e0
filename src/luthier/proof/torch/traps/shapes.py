"""Shapes, and what keeps its number of elements while it loses its order."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []


@trap(
    "layout",
    torch.flatten,
    torch.Tensor.flatten,
    hint="Flatten (channels, height, width) in the reference's order: transpose before, not after.",
)
def channels_last(call: FunctionCall) -> Any:
    """The candidate flattens with the channels last."""
    x = next(iter(call.arguments.values()))
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1) if x.ndim == 4 else NotImplemented


@trap("pixel-order", torch.pixel_shuffle, hint="Take ops.pixel_shuffle, whose channels lie as PyTorch's do.")
def depth_to_space(call: FunctionCall) -> Any:
    """The candidate shuffles pixels as TensorFlow's depth_to_space does, channels innermost."""
    x, factor = list(call.arguments.values())[:2]
    batch, channels, height, width = x.shape
    inner = channels // factor**2
    parts = x.reshape(batch, factor, factor, inner, height, width).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(batch, inner, height * factor, width * factor)


@trap("shift", torch.roll, hint="Roll the other way: the sign of the shifts is PyTorch's.")
def the_other_way(call: FunctionCall) -> Any:
    """The candidate rolls the other way."""
    x, shifts, *rest = call.arguments.values()
    turned = tuple(-s for s in shifts) if isinstance(shifts, tuple | list) else -shifts
    return torch.roll(x, turned, *rest)


@trap("normalised-by", functional.normalize, hint="Write the axis and the order out.", values=(-1, 1, 2))
def another_norm_axis(call: FunctionCall, value: int) -> Any:
    """The candidate divides by the norm along another axis."""
    x = call["input"]
    return call.again(dim=value) if -x.ndim <= value < x.ndim else NotImplemented
