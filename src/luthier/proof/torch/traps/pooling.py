"""Pooling and resizing."""

from __future__ import annotations

from typing import Any

from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []

MAX = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)
AVERAGE = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)


@trap("pool-stride", *MAX, *AVERAGE, hint="Write stride=… : a pool of MindSpore moves by 1 unless told.", values=(1, 2))
def another_stride(call: FunctionCall, value: int) -> Any:
    """The candidate's pool moves by another stride."""
    return call.again(stride=value)


@trap(
    "pool-padding",
    *MAX,
    hint="Give the pool its own pad_mode='pad' and padding: zeros beat negative numbers, as −∞ does not.",
)
def zeros_before_a_maximum(call: FunctionCall) -> Any:
    """The candidate pads with zeros before it takes the greatest."""
    from luthier.proof.torch.traps.convolutions import many

    count = int(call["input"].ndim) - 2
    padding = many(call["padding"], count)
    pads = [amount for size in reversed(padding) for amount in (size, size)]
    return call.again(input=functional.pad(call["input"], pads), padding=0) if any(pads) else NotImplemented


@trap("pool-padding", *MAX, *AVERAGE, hint="Write pad_mode='pad' and padding=… as the reference has it.")
def not_padded(call: FunctionCall) -> Any:
    """The candidate's pool does not pad."""
    return call.again(padding=0)


@trap(
    "count-include-pad",
    *AVERAGE,
    hint="Write count_include_pad as the reference has it: PyTorch counts the padding unless told, ONNX does not.",
)
def counting_the_padding(call: FunctionCall) -> Any:
    """The candidate's average counts the padding where the reference's does not, or the other way round."""
    return call.again(count_include_pad=not call["count_include_pad"])


@trap("ceil-mode", *MAX, *AVERAGE, hint="Write ceil_mode as the reference has it.")
def rounding_the_size(call: FunctionCall) -> Any:
    """The candidate rounds the pool's size the other way."""
    return call.again(ceil_mode=not call["ceil_mode"])


@trap(
    "max-or-average",
    *MAX,
    functional.adaptive_max_pool2d,
    hint="Take the reference's kind of pooling.",
)
def averaging(call: FunctionCall) -> Any:
    """The candidate takes the average where the reference takes the greatest."""
    if call.function is functional.adaptive_max_pool2d:
        return functional.adaptive_avg_pool2d(*list(call.arguments.values())[:2])
    average = AVERAGE[MAX.index(call.function)]
    kept = {name: call[name] for name in ("input", "kernel_size", "stride", "padding", "ceil_mode")}
    return average(**kept)


@trap(
    "align-corners",
    functional.interpolate,
    hint="Write align_corners and the size out; MindSpore's bicubic is TensorFlow's.",
)
def other_corners(call: FunctionCall) -> Any:
    """The candidate aligns the corners where the reference does not, or the other way round."""
    if call["mode"] not in ("linear", "bilinear", "bicubic", "trilinear"):
        return NotImplemented
    return call.again(align_corners=not call["align_corners"])


@trap(
    "resize-mode",
    functional.interpolate,
    hint="Write mode=… : MindSpore's default is 'nearest'.",
    values=(
        "nearest",
        "nearest-exact",
        "bilinear",
        "area",
    ),
)
def another_mode(call: FunctionCall, value: str) -> Any:
    """The candidate resizes by another mode."""
    return call.again(mode=value, align_corners=False if value == "bilinear" else None)
