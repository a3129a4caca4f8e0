"""Convolutions and dense layers."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []

CONVOLUTIONS = (torch.conv1d, torch.conv2d, torch.conv3d)
TRANSPOSED = (torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d)


def many(value: Any, count: int) -> tuple[int, ...]:
    """One number an axis."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * count


def axes(call: FunctionCall) -> int:
    """How many axes the kernel has."""
    return int(call["weight"].ndim) - 2


@trap(
    "padding-mode",
    *CONVOLUTIONS,
    hint="Write pad_mode='pad' and padding=… for every convolution: MindSpore's default is 'same'.",
)
def padded_to_the_same_size(call: FunctionCall) -> Any:
    """The candidate pads to the same size, the odd pixel at the end, in place of the reference's padding."""
    kernel, dilation, stride = (
        call["weight"].shape[2:],
        many(call["dilation"], axes(call)),
        many(call["stride"], axes(call)),
    )
    pads: list[int] = []
    for size, width, apart, step in zip(call["input"].shape[2:], kernel, dilation, stride, strict=True):
        total = max((-(-size // step) - 1) * step + (width - 1) * apart + 1 - size, 0)
        pads = [total // 2, total - total // 2, *pads]
    return call.again(input=functional.pad(call["input"], pads), padding=0)


@trap("padding-mode", *CONVOLUTIONS, hint="Write pad_mode='pad' and padding=… as the reference has it.")
def not_padded(call: FunctionCall) -> Any:
    """The candidate does not pad where the reference does."""
    return call.again(padding=0)


@trap(
    "padding-axes",
    *CONVOLUTIONS,
    hint="MindSpore's padding is (top, bottom, left, right): PyTorch's (h, w) is (h, h, w, w).",
)
def padding_on_the_other_axis(call: FunctionCall) -> Any:
    """The candidate pads the height by what the width has, and the width by the height's."""
    padding = call["padding"]
    return NotImplemented if isinstance(padding, str) else call.again(padding=many(padding, axes(call))[::-1])


@trap(
    "padding-value",
    functional.pad,
    hint="nn.Conv2d of MindSpore pads with zeros alone: put nn.Pad or ops.pad before it.",
)
def padded_with_zeros(call: FunctionCall) -> Any:
    """The candidate pads with zeros where the reference reflects, repeats or goes around."""
    return NotImplemented if call["mode"] == "constant" else call.again(mode="constant", value=0.0)


@trap(
    "missing-bias",
    *CONVOLUTIONS,
    *TRANSPOSED,
    functional.linear,
    hint="Write has_bias=True: a convolution of MindSpore has none unless told.",
)
def without_bias(call: FunctionCall) -> Any:
    """The candidate does not add the bias."""
    return NotImplemented if call["bias"] is None else call.again(bias=None)


@trap("stride", *CONVOLUTIONS, *TRANSPOSED, hint="Write the reference's stride out.", values=(1, 2, "swapped"))
def another_stride(call: FunctionCall, value: Any) -> Any:
    """The candidate's convolution has another stride."""
    return call.again(stride=many(call["stride"], axes(call))[::-1] if value == "swapped" else value)


@trap("dilation", *CONVOLUTIONS, hint="Write the reference's dilation out.", values=(1, 2))
def another_dilation(call: FunctionCall, value: int) -> Any:
    """The candidate's convolution has another dilation."""
    return call.again(dilation=value)


@trap(
    "output-padding",
    *TRANSPOSED,
    hint="MindSpore 2.10's Conv2dTranspose gives other numbers with output_padding on a CPU: pad or crop by hand.",
)
def without_output_padding(call: FunctionCall) -> Any:
    """The candidate's transposed convolution has lost its output_padding."""
    return call.again(output_padding=0)


@trap(
    "weight-layout",
    functional.linear,
    hint="nn.Dense keeps its weight as (out, in), as PyTorch does: no transpose in the weight map.",
)
def transposed_weight(call: FunctionCall) -> Any:
    """The candidate's dense layer multiplies by the transposed weight."""
    weight = call["weight"]
    return call.again(weight=weight.T) if weight.shape[0] == weight.shape[1] else NotImplemented


@trap(
    "weight-layout",
    *CONVOLUTIONS,
    hint="A kernel is (out, in, height, width) in both frameworks; TensorFlow's is turned by the weight map.",
    values=("flipped", "swapped", "channels"),
)
def turned_kernel(call: FunctionCall, value: str) -> Any:
    """The candidate's kernel lies another way."""
    weight = call["weight"]
    spatial = tuple(range(2, weight.ndim))
    if value == "flipped":
        return call.again(weight=weight.flip(spatial))
    swapped = weight.transpose(-1, -2) if value == "swapped" and weight.ndim > 3 else weight.transpose(0, 1)
    return call.again(weight=swapped) if swapped.shape == weight.shape else NotImplemented
