"""Pooling: MindSpore's stride is one where nothing is said, PyTorch's the kernel."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit
from luthier.port.registry import ports
from luthier.port.rules.convolution import one, tupled

__all__: list[str] = []


def window(call: Call, *, plain: bool) -> dict[str, Any]:
    """Where a pool looks; a stride that is not said is the kernel."""
    stride = call["kernel_size"] if call["stride"] is None else call["stride"]
    return {
        "kernel_size": one(call["kernel_size"]),
        "stride": one(stride),
        "pad_mode": "valid" if plain else "pad",
        "padding": one(call["padding"]),
    }


def max_layer(call: Call, target: str, rank: int) -> Emit:
    """Its padding counts as minus infinity in the mode 'pad' alone."""
    plain = not any(tupled(call["padding"], rank)) and not call["ceil_mode"] and one(call["dilation"]) == 1
    return Emit(
        target,
        **window(call, plain=plain),
        dilation=one(call["dilation"]),
        ceil_mode=call["ceil_mode"],
        return_indices=call["return_indices"],
    )


@ports("torch.nn.MaxPool1d")
def max_pool_1d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return max_layer(call, "nn.MaxPool1d", 1)


@ports("torch.nn.MaxPool2d")
def max_pool_2d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return max_layer(call, "nn.MaxPool2d", 2)


@ports("torch.nn.MaxPool3d")
def max_pool_3d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return max_layer(call, "nn.MaxPool3d", 3)


def average_layer(call: Call, target: str, rank: int) -> Emit:
    """In the mode 'pad' it is PyTorch's, which counts the padding where nothing is said."""
    plain = not any(tupled(call["padding"], rank)) and not call["ceil_mode"]
    made = Emit(
        target,
        **window(call, plain=plain),
        ceil_mode=call["ceil_mode"],
        count_include_pad=call["count_include_pad"] or plain,
    )
    if call.arguments.get("divisor_override") is not None:
        made.keywords["divisor_override"] = call["divisor_override"]
        made.keywords["pad_mode"] = "pad"
    return made


@ports("torch.nn.AvgPool1d")
def avg_pool_1d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return average_layer(call, "nn.AvgPool1d", 1)


@ports("torch.nn.AvgPool2d")
def avg_pool_2d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return average_layer(call, "nn.AvgPool2d", 2)


@ports("torch.nn.AvgPool3d")
def avg_pool_3d(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said."""
    return average_layer(call, "nn.AvgPool3d", 3)


def adaptive(call: Call, target: str) -> Emit:
    """None keeps a length in both."""
    return Emit(target, output_size=one(call["output_size"]))


@ports("torch.nn.AdaptiveAvgPool1d")
def adaptive_avg_pool_1d(call: Call) -> Emit:
    """Lengths that do not divide are composed in the forward pass."""
    return adaptive(call, "nn.AdaptiveAvgPool1d")


@ports("torch.nn.AdaptiveAvgPool2d")
def adaptive_avg_pool_2d(call: Call) -> Emit:
    """The same function."""
    return adaptive(call, "nn.AdaptiveAvgPool2d")


@ports("torch.nn.AdaptiveAvgPool3d")
def adaptive_avg_pool_3d(call: Call) -> Emit:
    """The same function."""
    return adaptive(call, "nn.AdaptiveAvgPool3d")


@ports("torch.nn.AdaptiveMaxPool2d")
def adaptive_max_pool_2d(call: Call) -> Emit:
    """The same function."""
    return adaptive(call, "nn.AdaptiveMaxPool2d")


@ports("aten.adaptive_avg_pool1d.default")
def adaptive_avg_pool1d(call: Call) -> Emit:
    """Its length is a number."""
    return Emit("ops.adaptive_avg_pool1d", call["self"], one(call["output_size"]))


@ports("aten.adaptive_max_pool2d.default")
def adaptive_max_pool2d(call: Call) -> Emit:
    """With the places, as PyTorch's inner operator gives them."""
    return Emit("ops.adaptive_max_pool2d", call["self"], call["output_size"], return_indices=True)


def function(call: Call) -> dict[str, Any]:
    """An empty stride is the kernel in both."""
    stride = call["stride"] or call["kernel_size"]
    return {"kernel_size": one(call["kernel_size"]), "stride": one(stride), "padding": one(call["padding"])}


@ports("aten.max_pool2d.default", "aten.max_pool3d.default")
def max_pool(call: Call) -> Emit:
    """The same function."""
    name = "ops.max_pool2d" if "2d" in call.operator else "ops.max_pool3d"
    return Emit(name, call["self"], **function(call), dilation=one(call["dilation"]), ceil_mode=call["ceil_mode"])


@ports("aten.max_pool1d.default")
def max_pool1d(call: Call) -> Emit:
    """As an image of one row."""
    row = Emit("ops.unsqueeze", call["self"], -2)
    kernel, step, pad = ((one(call[name]) if call[name] else None) for name in ("kernel_size", "stride", "padding"))
    made = Emit(
        "ops.max_pool2d",
        row,
        (1, kernel),
        stride=(1, step or kernel),
        padding=(0, pad or 0),
        dilation=(1, one(call["dilation"])),
        ceil_mode=call["ceil_mode"],
    )
    return Emit("ops.squeeze", made, -2, composed=True)


@ports("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def avg_pool(call: Call) -> Emit:
    """The same function."""
    made = Emit(
        f"ops.{call.operator.split('.')[1]}",
        call["self"],
        **function(call),
        ceil_mode=call["ceil_mode"],
        count_include_pad=call["count_include_pad"],
    )
    if call.arguments.get("divisor_override") is not None:
        made.keywords["divisor_override"] = call["divisor_override"]
    return made
