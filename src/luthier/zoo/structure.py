"""What a network's options mean, before any framework: channels, sizes and their refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from luthier.errors import ModelError

__all__ = [
    "ONE_SIZE",
    "Activation",
    "ActivationOrNone",
    "Count",
    "Factor",
    "Lengths",
    "Pooling",
    "Reduction",
    "Shape",
    "Share",
    "Stem",
    "check_stages",
    "lenet5_channels",
    "lenet5_sizes",
    "slim_channels",
]

Activation = Literal["relu", "gelu", "silu", "tanh", "sigmoid", "leaky-relu"]
ActivationOrNone = Literal["none", "relu", "gelu", "silu", "tanh", "sigmoid", "leaky-relu"]
Count = Annotated[int, Meta(ge=1)]
Factor = Annotated[float, Meta(gt=0)]
Lengths = tuple[Count, ...]  # one a stage
Pooling = Literal["max", "avg", "stride"]
Reduction = Literal["stride", "pool"]  # where a stage begins: in the 3×3 convolution, or by a max-pooling after it
Share = Annotated[float, Meta(ge=0, lt=1)]
Shape = tuple[int, int, int]  # height, width, channels
Stem = Literal["imagenet", "cifar"]  # 7×7 and a pooling, a quarter of the size; or 3×3 alone

ONE_SIZE = ("lenet5",)  # dense layers behind what the convolutions leave take one size of image; a mean takes any
SLIM_CHANNELS = (32, 80, 144)


def lenet5_channels(width: float | tuple[int, ...], depth: int | None) -> tuple[int, ...]:
    """The convolutions' channels: 6, 16, 32, … times `width`, or as it lists them."""
    if not isinstance(width, tuple):
        first = (6, *(16 * 2**i for i in range((depth or 2) - 1)))
        return tuple(max(1, round(width * channels)) for channels in first)
    if depth not in (None, len(width)) or not width:
        raise ModelError(f"Expected {depth or 'some'} channels, got {len(width)}", at="model.options.width")
    return width


def lenet5_sizes(shape: Shape, depth: int, kernel: int, edges: int, pooling: Pooling) -> tuple[int, int]:
    """What the convolutions leave of the image, or a refusal that names the first that does not fit."""
    height, width, _ = shape
    for i in range(1, depth + 1):
        left = (height - edges, width - edges)
        halved = tuple((size + 1) // 2 if pooling == "stride" else size // 2 for size in left)
        if min(halved) < 1:
            raise ModelError(
                f"lenet5 runs out of image at conv{i} with its kernel of {kernel}: "
                f"{height}×{width} is left of {shape[0]}×{shape[1]}",
                at="model.options",
                hint='Take larger images, a smaller kernel or depth, or padding = "same".',
            )
        height, width = halved
    return height, width


def slim_channels(width: float | tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """The three stages' channels: 32, 80 and 144 times `width`, or as it lists them."""
    if min(shape[:2]) < 8:
        raise ModelError(
            f"slim halves an image three times and needs at least 8×8, got {shape[0]}×{shape[1]}", at="model.name"
        )
    channels = width if isinstance(width, tuple) else tuple(max(1, round(width * count)) for count in SLIM_CHANNELS)
    if len(channels) != len(SLIM_CHANNELS):
        raise ModelError(f"slim has three stages, got channels for {len(channels)}", at="model.options.width")
    return channels


def check_stages(
    expansion: int,
    layer_nums: Sequence[int],
    in_channels: Sequence[int],
    out_channels: Sequence[int],
    strides: Sequence[int],
) -> None:
    """Refuse a ResNet whose four stages do not fit each other."""
    lists = {"layer_nums": layer_nums, "in_channels": in_channels, "out_channels": out_channels, "strides": strides}
    for name, values in lists.items():
        if len(values) != 4:
            raise ModelError(
                f"A ResNet has four stages, but {name} lists {len(values)}",
                at=f"model.options.{name}",
                hint=f"Lengths: {', '.join(f'{other} {len(given)}' for other, given in lists.items())}.",
            )
    for i in range(4):
        if i and in_channels[i] != out_channels[i - 1]:
            raise ModelError(
                f"Stage {i + 1} takes {in_channels[i]} channels, but stage {i} gives {out_channels[i - 1]}",
                at=f"model.options.in_channels.{i}",
            )
        if out_channels[i] % expansion:
            raise ModelError(
                f"A bottleneck divides its channels by {expansion}, got {out_channels[i]}",
                at=f"model.options.out_channels.{i}",
            )
