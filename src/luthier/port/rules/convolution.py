"""Convolutions: MindSpore pads to the same size and has no bias where nothing is said."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports
from luthier.port.rules.padding import PAD_MODES
from luthier.weights import Expand

__all__: list[str] = []


def one(value: Any) -> Any:
    """`(3, 3)` is written 3."""
    return value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value


def doubled(padding: tuple[int, ...]) -> Any:
    """PyTorch pads an axis on both sides; MindSpore wants every side."""
    if len(set(padding)) == 1:
        return padding[0]
    return tuple(amount for amount in padding for _ in range(2))


def padded_by(call: Call, target: str, padding: tuple[int, ...]) -> Emit:
    """A convolution's layer, there or back, whose padding is known."""
    padded = any(padding)
    return Emit(
        target,
        in_channels=call["in_channels"],
        out_channels=call["out_channels"],
        kernel_size=one(call["kernel_size"]),
        stride=one(call["stride"]),
        pad_mode="pad" if padded else "valid",
        padding=doubled(padding) if padded else 0,
        dilation=one(call["dilation"]),
        group=call["groups"],
        has_bias=call["bias"],
    )


def layer(call: Call, target: str) -> Emit:
    """What the three ranks have in common."""
    padding = call["padding"]
    if call["padding_mode"] != "zeros":
        raise Unsupported(
            f"{call.operator}(padding_mode='{call['padding_mode']}') has no MindSpore equivalent",
            at=call.at,
            hint=f"Put a torch.nn.{PAD_MODES[call['padding_mode']]} layer before it and give it padding=0.",
        )
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(call["dilation"], call["kernel_size"], strict=True)]
        if any(amount % 2 for amount in total):
            raise Unsupported(
                f"{call.operator}(padding='same') with an even kernel pads its two sides differently",
                at=call.at,
                hint="Pad explicitly with torch.nn.functional.pad before it.",
            )
        padding = tuple(amount // 2 for amount in total)
    elif padding == "valid":
        padding = (0,) * len(call["kernel_size"])
    return padded_by(call, target, padding)


@ports("torch.nn.Conv2d")
def conv_2d(call: Call) -> Emit:
    """MindSpore pads to the same size and adds no bias unless told otherwise."""
    return layer(call, "nn.Conv2d")


@ports("torch.nn.Conv3d")
def conv_3d(call: Call) -> Emit:
    """As in two dimensions."""
    return layer(call, "nn.Conv3d")


@ports("torch.nn.Conv1d")
def conv_1d(call: Call) -> Emit:
    """MindSpore keeps the weight with a second axis of length one."""
    made = layer(call, "nn.Conv1d")
    return Emit(made.target, transforms={"weight": Expand(axis=2)}, **made.keywords)


def functional(call: Call, target: str) -> Emit:
    """A convolution whose weight is at hand."""
    padding = call["padding"]
    rank = call["weight"].rank - 2
    if isinstance(padding, str):
        kernel, dilation = call["weight"].shape[2:], tupled(call["dilation"], rank)
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)] if padding == "same" else [0] * rank
        if any(amount % 2 for amount in total):
            raise Unsupported(
                f"{call.operator} with padding='same' and an even kernel pads its two sides differently",
                at=call.at,
                hint="Pad explicitly with torch.nn.functional.pad before it.",
            )
        padding = tuple(amount // 2 for amount in total)
    padding = tupled(padding, rank)
    return Emit(
        target,
        call["input"],
        call["weight"],
        bias=call["bias"],
        stride=one(tupled(call["stride"], rank)),
        pad_mode="pad" if any(padding) else "valid",
        padding=one(padding),
        dilation=one(tupled(call["dilation"], rank)),
        groups=call["groups"],
    )


def tupled(value: Any, rank: int) -> tuple[int, ...]:
    """3 is (3, 3)."""
    if isinstance(value, int):
        return (value,) * rank
    return tuple(value) * rank if len(value) == 1 else tuple(value)


@ports("aten.conv1d.default", "aten.conv1d.padding")
def conv1d(call: Call) -> Emit:
    """As a function it takes PyTorch's weight as it is."""
    return functional(call, "ops.conv1d")


@ports("aten.conv2d.default", "aten.conv2d.padding")
def conv2d(call: Call) -> Emit:
    """The mode 'pad' is said wherever there is a padding."""
    return functional(call, "ops.conv2d")


@ports("aten.conv3d.default", "aten.conv3d.padding")
def conv3d(call: Call) -> Emit:
    """The mode 'pad' is said wherever there is a padding."""
    return functional(call, "ops.conv3d")


def transposed(call: Call, target: str) -> Emit:
    """A layer; what it cannot do is composed in the forward pass."""
    if any(call["output_padding"]):
        return Emit("forward")
    return padded_by(call, target, call["padding"])


@ports("torch.nn.ConvTranspose2d")
def conv_transpose_2d_layer(call: Call) -> Emit:
    """The weight has the same layout; MindSpore 2.10's output_padding gives other numbers, and is composed."""
    return transposed(call, "nn.Conv2dTranspose")


@ports("aten.conv_transpose2d.input")
def conv_transpose2d(call: Call) -> Emit:
    """MindSpore's function has no kernel on a CPU: zeros between the pixels, then a convolution."""
    return Emit(
        "conv_transpose2d",
        call["input"],
        call["weight"],
        call["bias"],
        tupled(call["stride"], 2),
        tupled(call["padding"], 2),
        tupled(call["output_padding"], 2),
        call["groups"],
        tupled(call["dilation"], 2),
        helpers=("conv_transpose2d",),
        composed=True,
    )
