"""Resizing images: the size is computed while the network is read, so that no rounding of a factor can differ."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.graph import Size
from luthier.port.registry import ports

__all__: list[str] = []


def size_of(call: Call, rank: int) -> tuple[Any, ...]:
    """The result's, if a factor that is given amounts to the same as the sizes' ratio."""
    before, after = call["input"].shape[-rank:], call.outputs[0].shape[-rank:]
    factors = call.arguments.get("scale_factors")
    for b, a, factor in zip(before, after, factors or (None,) * rank, strict=True):
        if isinstance(a, Size) or isinstance(b, Size):
            raise Unsupported(
                "A resize of an open size has no rule", at=call.at, hint="Fix the input's height and width."
            )
        if factor is not None and call["output_size"] is None and a != b * factor:
            raise Unsupported(
                f"A resize from {b} to {a} by the factor {factor} is not the sizes' ratio",
                at=call.at,
                hint="Give the size, or recompute_scale_factor=True.",
            )
    return after


@ports("aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec", "aten.upsample_nearest3d.vec")
def nearest(call: Call) -> Emit:
    """The same choice of pixels."""
    return Emit("ops.interpolate", call["input"], size=size_of(call, call["input"].rank - 2), mode="nearest")


@ports("aten.upsample_bilinear2d.vec", "aten.upsample_linear1d.vec", "aten.upsample_trilinear3d.vec")
def linear(call: Call) -> Emit:
    """The same formula in every rank."""
    rank = call["input"].rank - 2
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[rank]
    return Emit(
        "ops.interpolate", call["input"], size=size_of(call, rank), mode=mode, align_corners=call["align_corners"]
    )


@ports("aten.upsample_bicubic2d.vec", "aten._upsample_bicubic2d_aa.vec", "aten._upsample_bilinear2d_aa.vec")
def cubic(call: Call) -> Emit:
    """MindSpore's has another coefficient: a product with a matrix of weights for each axis."""
    height, width = size_of(call, 2)
    kind = "linear" if "bilinear" in call.operator else "cubic"
    return Emit(
        "resize",
        call["input"],
        (height, width),
        kind=kind,
        align_corners=call["align_corners"],
        antialias="_aa" in call.operator,
        helpers=("resize",),
        composed=True,
    )


@ports("aten.grid_sampler.default")
def grid_sample(call: Call) -> Emit:
    """MindSpore has no cubic one."""
    if call["interpolation_mode"] == 2:
        raise Unsupported("grid_sample(mode='bicubic') has no MindSpore equivalent", at=call.at, hint="Use 'bilinear'.")
    return Emit(
        "ops.grid_sample",
        call["input"],
        call["grid"],
        mode=("bilinear", "nearest")[call["interpolation_mode"]],
        padding_mode=("zeros", "border", "reflection")[call["padding_mode"]],
        align_corners=call["align_corners"],
    )


@ports("torch.nn.PixelShuffle")
def pixel_shuffle_layer(call: Call) -> Emit:
    """The same function."""
    return Emit("nn.PixelShuffle", call["upscale_factor"])
