"""Normalisations: other names of parameters, another meaning of momentum, other defaults of epsilon."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports

__all__: list[str] = []

AFFINE = {"weight": "gamma", "bias": "beta"}
MOVING = {**AFFINE, "running_mean": "moving_mean", "running_var": "moving_variance", "num_batches_tracked": ""}


def batch_norm(call: Call, target: str, prefix: str = "") -> Emit:
    """What the ranks have in common."""
    if call["momentum"] is None:
        raise Unsupported(
            f"{call.operator}(momentum=None), the cumulative average, has no MindSpore equivalent",
            at=call.at,
            hint="Give it a fixed momentum, such as 0.1, before porting.",
        )
    if not call["track_running_stats"]:
        raise Unsupported(
            f"{call.operator}(track_running_stats=False) has no MindSpore equivalent",
            at=call.at,
            hint="Track the statistics, or use torch.nn.GroupNorm or torch.nn.InstanceNorm2d.",
        )
    return Emit(
        target,
        num_features=call["num_features"],
        eps=call["eps"],
        momentum=round(1.0 - call["momentum"], 12),
        affine=call["affine"],
        weights={name: f"{prefix}{new}" if new else "" for name, new in MOVING.items()},
    )


@ports("torch.nn.BatchNorm1d")
def batch_norm_1d(call: Call) -> Emit:
    """MindSpore's momentum weighs the old statistic, PyTorch's the new one."""
    return batch_norm(call, "nn.BatchNorm1d")


@ports("torch.nn.BatchNorm2d")
def batch_norm_2d(call: Call) -> Emit:
    """MindSpore's momentum weighs the old statistic, PyTorch's the new one."""
    return batch_norm(call, "nn.BatchNorm2d")


@ports("torch.nn.BatchNorm3d")
def batch_norm_3d(call: Call) -> Emit:
    """MindSpore's wraps the two-dimensional one, whose name stands before the parameters'."""
    return batch_norm(call, "nn.BatchNorm3d", "bn2d.")


@ports("aten.batch_norm.default")
def batch_norm_function(call: Call) -> Emit:
    """The graph of evaluation does not tell which statistics it takes in training, nor whether it trains them."""
    raise Unsupported(
        "A batch normalisation as a function has no rule: what it does in training is not known",
        at=call.at,
        hint="Make it a layer: torch.nn.BatchNorm1d, BatchNorm2d or BatchNorm3d.",
    )


@ports("torch.nn.LayerNorm")
def layer_norm_layer(call: Call) -> Emit:
    """MindSpore's epsilon is 1e-7 where nothing is said, and there is no switch for its parameters."""
    if not call["elementwise_affine"] or not call["bias"] or len(call["normalized_shape"]) > 1:
        return Emit("forward")
    return Emit(
        "nn.LayerNorm",
        call["normalized_shape"],
        epsilon=call["eps"],
        weights=AFFINE,
    )


@ports("aten.layer_norm.default")
def layer_norm(call: Call) -> Emit:
    """As a function MindSpore's has no kernel on a CPU: written out."""
    return Emit(
        "layer_norm",
        call["input"],
        call["weight"],
        call["bias"],
        last(call),
        call["eps"],
        helpers=("layer_norm",),
        composed=True,
    )


def last(call: Call) -> Any:
    """The axes that are normalised, from behind."""
    count = len(call["normalized_shape"])
    return -1 if count == 1 else tuple(range(-count, 0))


@ports("aten.rms_norm.default")
def rms_norm(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU: written out, with PyTorch's epsilon."""
    eps = 1.1920928955078125e-07 if call["eps"] is None else call["eps"]
    return Emit("rms_norm", call["input"], call["weight"], last(call), eps, helpers=("rms_norm",), composed=True)


@ports("torch.nn.GroupNorm")
def group_norm_layer(call: Call) -> Emit:
    """Other names of the parameters, which are always there."""
    if not call["affine"]:
        return Emit("forward")
    return Emit("nn.GroupNorm", call["num_groups"], call["num_channels"], eps=call["eps"], weights=AFFINE)


@ports("aten.group_norm.default")
def group_norm(call: Call) -> Emit:
    """The same function."""
    return Emit(
        "ops.group_norm",
        call["input"],
        call["num_groups"],
        weight=call["weight"],
        bias=call["bias"],
        eps=call["eps"],
    )


@ports("aten.instance_norm.default")
def instance_norm(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU: a group for each channel is the same."""
    if not call["use_input_stats"]:
        raise Unsupported(
            "An instance normalisation by moving statistics has no rule",
            at=call.at,
            hint="Build it with track_running_stats=False.",
        )
    channels = call["input"].shape[1]
    return Emit(
        "ops.group_norm",
        call["input"],
        channels,
        weight=call["weight"],
        bias=call["bias"],
        eps=call["eps"],
        composed=True,
    )
