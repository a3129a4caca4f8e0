"""Shapes: views, transposes, joins, splits, repeats."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, method, sequence
from luthier.port.graph import Size, Value
from luthier.port.registry import ports

__all__ = ["sized"]


def sized(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first open length is left to MindSpore, as -1, where nothing else is."""
    if -1 in [size for size in shape if isinstance(size, int)]:
        return shape
    first = next((i for i, size in enumerate(shape) if isinstance(size, Size)), None)
    return tuple(-1 if i == first else size for i, size in enumerate(shape))


@ports("torch.nn.Flatten")
def flatten_layer(call: Call) -> Emit:
    """The same defaults."""
    return Emit("nn.Flatten", start_dim=call["start_dim"], end_dim=call["end_dim"])


@ports("aten.flatten.using_ints")
def flatten(call: Call) -> Emit:
    """PyTorch's function begins at axis 0, MindSpore's at 1."""
    return Emit("ops.flatten", call["self"], start_dim=call["start_dim"], end_dim=call["end_dim"])


@ports("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default")
def reshape(call: Call) -> Emit:
    """A view is a reshape."""
    size = call.arguments.get("size", call.arguments.get("shape"))
    assert isinstance(size, tuple)
    return method(call["self"], "reshape", *sized(size))


@ports("aten.unflatten.int")
def unflatten(call: Call) -> Emit:
    """One axis into several."""
    return method(call["self"], "reshape", *sized(call.outputs[0].shape))


@ports("aten.reshape_as.default", "aten.view_as.default")
def reshape_as(call: Call) -> Emit:
    """The other's shape."""
    return method(call["self"], "reshape", *sized(call["other"].shape))


@ports("aten.permute.default")
def permute(call: Call) -> Emit:
    """The same function."""
    return method(call["self"], "permute", *call["dims"])


@ports("aten.transpose.int", "aten.swapaxes.default")
def transpose(call: Call) -> Emit:
    """MindSpore's `transpose` takes every axis; two are swapped by another name."""
    first, second = (call["dim0"], call["dim1"]) if "dim0" in call.arguments else (call["axis0"], call["axis1"])
    return method(call["self"], "swapaxes", first, second)


@ports("aten.t.default")
def turned(call: Call) -> Emit:
    """A matrix the other way round."""
    return Emit("same", call["self"]) if call["self"].rank < 2 else method(call["self"], "swapaxes", 0, 1)


@ports("aten.squeeze.dim", "aten.squeeze.dims", "aten.squeeze.default")
def squeeze(call: Call) -> Emit:
    """PyTorch leaves an axis that is longer than one, MindSpore refuses it."""
    shape = call["self"].shape
    dims = call.arguments.get("dim", tuple(range(len(shape))))
    dims = (dims,) if isinstance(dims, int) else dims
    found = tuple(dim % len(shape) for dim in dims if shape[dim] == 1)
    if not found:
        return Emit("same", call["self"])
    return Emit("ops.squeeze", call["self"], found[0] if len(found) == 1 else found)


@ports("aten.expand.default", "aten.broadcast_to.default")
def expand(call: Call) -> Emit:
    """-1 keeps a length in both."""
    own = call["self"].shape
    size = call["size"]
    new = len(size) - len(own)
    kept = tuple(-1 if i >= new and own[i - new] == length else length for i, length in enumerate(size))
    if new == 0 and all(length == -1 for length in kept):
        return Emit("same", call["self"])
    return Emit("ops.broadcast_to", call["self"], kept)


@ports("aten.expand_as.default")
def expand_as(call: Call) -> Emit:
    """The other's shape."""
    return Emit("ops.broadcast_to", call["self"], call["other"].shape)


@ports("aten.cat.default")
def cat(call: Call) -> Emit:
    """An axis of another name; an empty part is left out, as PyTorch does."""
    parts = tuple(part for part in call["tensors"] if not _is_empty(part))
    return Emit("same", parts[0]) if len(parts) == 1 else Emit("ops.cat", sequence(*parts), axis=call["dim"])


def _is_empty(part: Value) -> bool:
    return part.shape == (0,)


@ports("aten.split.Tensor", "aten.split_with_sizes.default")
def split(call: Call) -> Emit:
    """Equal parts, or parts of these sizes."""
    size = call.arguments.get("split_size", call.arguments.get("split_sizes"))
    return Emit("ops.split", call["self"], size, axis=call["dim"])


@ports("aten.chunk.default")
def chunk(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.chunk", call["self"], call["chunks"], axis=call["dim"])


@ports("aten.repeat.default")
def repeat(call: Call) -> Emit:
    """What PyTorch's method calls repeat is a tile."""
    return Emit("ops.tile", call["self"], call["repeats"])


@ports("aten.repeat_interleave.self_int")
def repeat_interleave(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.repeat_interleave", call["self"], call["repeats"], axis=call["dim"])


@ports("aten.roll.default")
def roll(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU: two slices, joined the other way round."""
    return Emit("roll", call["self"], call["shifts"], call["dims"], helpers=("roll",), composed=True)


@ports("aten.meshgrid.indexing")
def meshgrid(call: Call) -> Emit:
    """MindSpore's default is 'xy', PyTorch's 'ij'."""
    return Emit("ops.meshgrid", *call["tensors"], indexing=call.arguments.get("indexing", "ij"))


@ports("aten.unfold.default")
def unfold(call: Call) -> Emit:
    """Windows along one axis, which MindSpore has for images alone."""
    return Emit(
        "windows",
        call["self"],
        call["dimension"] % call["self"].rank,
        call["size"],
        call["step"],
        helpers=("windows",),
        composed=True,
    )


@ports("aten.im2col.default")
def im2col(call: Call) -> Emit:
    """The same function."""
    return Emit(
        "ops.unfold",
        call["self"],
        call["kernel_size"],
        dilation=call["dilation"],
        padding=call["padding"],
        stride=call["stride"],
    )


@ports("aten.col2im.default")
def col2im(call: Call) -> Emit:
    """MindSpore wants the lengths as a tensor, and the windows on an axis of their own."""
    return Emit(
        "fold",
        call["self"],
        call["output_size"],
        call["kernel_size"],
        call["dilation"],
        call["padding"],
        call["stride"],
        helpers=("fold",),
        composed=True,
    )


@ports("aten.channel_shuffle.default")
def channel_shuffle(call: Call) -> Emit:
    """MindSpore's own has no gradient."""
    return Emit("channel_shuffle", call["self"], call["groups"], helpers=("channel_shuffle",), composed=True)
