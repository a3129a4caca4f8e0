"""Padding of every kind."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports

__all__ = ["PAD_MODES"]

PAD_MODES = {"reflect": "ReflectionPad2d", "replicate": "ReplicationPad2d", "circular": "CircularPad2d"}


@ports("aten.pad.default", "aten.constant_pad_nd.default")
def pad(call: Call) -> Emit:
    """The same order of sides, the last axis first."""
    mode = call.arguments.get("mode", "constant")
    value = call["value"] or None
    if not any(call["pad"]):
        return Emit("same", call["self"])
    if mode != "constant":
        return Emit("ops.pad", call["self"], call["pad"], mode=mode)
    return Emit("ops.pad", call["self"], call["pad"], value=value)


@ports("torch.nn.ZeroPad2d")
def zero_pad_2d(call: Call) -> Emit:
    """The same order of sides."""
    if any(side < 0 for side in call["padding"]):
        raise Unsupported("A negative padding is a slice", at=call.at, hint="Cut it with x[:, :, a:b, c:d].")
    return Emit("nn.ZeroPad2d", call["padding"])


@ports("torch.nn.ReflectionPad2d")
def reflection_pad_2d(call: Call) -> Emit:
    """The same order of sides."""
    return Emit("nn.ReflectionPad2d", call["padding"])


@ports("torch.nn.ReplicationPad2d")
def replication_pad_2d(call: Call) -> Emit:
    """The same order of sides."""
    return Emit("nn.ReplicationPad2d", call["padding"])
