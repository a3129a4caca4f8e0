"""Shapes: views, transposes, joins, splits, repeats."""

from __future__ import annotations

from typing import Any

import numpy as np

from luthier.port.emit import Call, Emit, index, method, sequence
from luthier.port.graph import Size
from luthier.port.known import Known
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import INTEGERS, dtype_of, ints, number, operand, typed
from luthier.port.rules.shape import sized

__all__: list[str] = []

ALL = slice(None)
END = 2**62


@ports("onnx.Reshape")
def reshape(call: Call) -> Emit:
    """The result's shape, its first open length left to MindSpore; a zero keeps the length that was there."""
    shape = ints(call, "shape")
    x = operand(call["data"])
    if isinstance(shape, Emit):
        return Emit("reshaped", x, shape, bool(call.arguments.get("allowzero")), helpers=("reshaped",), composed=True)
    if any(isinstance(length, Size) for length in call.outputs[0].shape) and -1 in shape:
        own = call["data"].shape
        kept = tuple(own[i] if length == 0 else length for i, length in enumerate(shape))
        return method(x, "reshape", *kept)
    return method(x, "reshape", *sized(call.outputs[0].shape)) if call.outputs[0].rank else method(x, "reshape", ())


@ports("onnx.Flatten")
def flatten(call: Call) -> Emit:
    """Always two axes."""
    x = call["input"]
    axis = call["axis"] % x.rank if call["axis"] < 0 else call["axis"]
    if axis == 1 and x.rank > 1:
        return Emit("ops.flatten", x)
    return method(x, "reshape", *sized(call.outputs[0].shape))


@ports("onnx.nn.Flatten")
def flatten_layer(call: Call) -> Emit:
    """MindSpore's keeps the first axis, as ONNX's does unless told otherwise."""
    return Emit("nn.Flatten") if call["axis"] == 1 else Emit("forward")


@ports("onnx.Transpose")
def transpose(call: Call) -> Emit:
    """Without an order the axes are turned round."""
    x = call["data"]
    perm = call["perm"] or tuple(reversed(range(x.rank)))
    moved = [i for i, axis in enumerate(perm) if i != axis]
    if not moved:
        return Emit("same", x)
    if len(moved) == 2 and x.rank > 2:
        return method(x, "swapaxes", *moved)
    return method(x, "permute", *perm)


@ports("onnx.Squeeze")
def squeeze(call: Call) -> Emit:
    """Without axes, all of length one."""
    x = call["data"]
    axes = ints(call, "axes")
    if isinstance(axes, Emit):
        return Emit("ops.squeeze", x, axes, composed=True)
    if not axes:
        axes = tuple(i for i, length in enumerate(x.shape) if length == 1)
    return Emit("ops.squeeze", x, axes[0] if len(axes) == 1 else axes) if axes else Emit("same", x)


@ports("onnx.Unsqueeze")
def unsqueeze(call: Call) -> Emit:
    """One axis at a time, the first one first."""
    axes = ints(call, "axes")
    made: Any = operand(call["data"])
    if isinstance(axes, Emit):
        return Emit("unsqueezed", made, axes, helpers=("unsqueezed",), composed=True)
    rank = call["data"].rank + len(axes) if isinstance(call["data"], Known) else len(axes)
    found = sorted(axis % rank for axis in axes)
    for axis in found:
        made = Emit("ops.unsqueeze", made, axis)
    return made if isinstance(made, Emit) else Emit("same", made)


@ports("onnx.Concat")
def concat(call: Call) -> Emit:
    """An empty part is left out."""
    parts = [part for part in call["inputs"] if not (isinstance(part, Known) and 0 in part.shape and part.ranked)]
    found = [operand(part) for part in parts or call["inputs"]]
    return Emit("same", found[0]) if len(found) == 1 else Emit("ops.cat", sequence(*found), axis=call["axis"])


@ports("onnx.Split")
def split(call: Call) -> Emit:
    """Into parts of the sizes that are given, or into equal ones of which the last may be smaller."""
    sizes = ints(call, "split")
    x, axis, count = call["input"], call["axis"], len(call.outputs)
    if sizes is None:
        length = x.shape[axis]
        if isinstance(length, Size):
            return Emit("ops.chunk", x, count, axis=axis)
        each = -(-length // count)
        sizes = tuple(min(each, max(length - i * each, 0)) for i in range(count))
    if count == 1:
        return sequence(x)
    return Emit("ops.split", x, sizes, axis=axis)


@ports("onnx.Tile")
def tile(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.tile", call["input"], ints(call, "repeats"))


@ports("onnx.Expand")
def expand(call: Call) -> Emit:
    """Spread to a common shape: either may be the longer."""
    shape = ints(call, "shape")
    x = call["input"]
    if isinstance(shape, Emit):
        return Emit("expanded", x, shape, helpers=("expanded",), composed=True)
    found = call.outputs[0].shape
    return Emit("same", x) if found == x.shape else Emit("ops.broadcast_to", x, found)


@ports("onnx.Slice")
def cut(call: Call) -> Emit:
    """Ranges with steps, which may go backwards."""
    x = call["data"]
    parts = [ints(call, name) for name in ("starts", "ends", "axes", "steps")]
    if any(isinstance(part, Emit) for part in parts):
        starts, ends = parts[0], parts[1]
        axes, steps = parts[2], parts[3]
        return Emit("sliced", x, starts, ends, axes, steps, helpers=("sliced",), composed=True)
    starts, ends = parts[0], parts[1]
    axes, steps = parts[2] or tuple(range(len(starts))), parts[3] or (1,) * len(starts)
    keys: list[Any] = [ALL] * x.rank
    made: Any = operand(x)
    backwards = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis %= x.rank
        length = x.shape[axis]
        if isinstance(step, int) and step < 0:
            if isinstance(length, Size) or isinstance(start, Size) or isinstance(end, Size):
                return Emit("sliced", x, starts, ends, parts[2], parts[3], helpers=("sliced",), composed=True)
            backwards.append(axis)
            rows = range(length)[slice(start, None if end < -length else end, step)]
            start, end, step = (rows[-1], rows[0] + 1, -step) if len(rows) else (0, 0, 1)
            rest = (end - 1 - start) % step
            start += rest
        first = None if start == 0 else start
        last = None if isinstance(end, int) and (end > END or end == length) else end
        keys[axis] = slice(first, last, None if step == 1 else step)
    while keys and keys[-1] == ALL:
        keys.pop()
    if keys:
        made = index(made, *keys)
    if backwards:
        made = Emit("ops.flip", made, tuple(backwards), composed=True)
    return made if isinstance(made, Emit) else Emit("same", made)


@ports("onnx.Pad")
def pad(call: Call) -> Emit:
    """MindSpore begins with the last axis, ONNX with all the beginnings."""
    pads = ints(call, "pads") if "pads" in call.arguments else call["paddings"]
    axes = ints(call, "axes")
    value = number(call, "constant_value", 0) if "constant_value" in call.arguments else call.arguments.get("value", 0)
    x, mode = call["data"], call["mode"]
    if isinstance(pads, Emit) or isinstance(axes, Emit):
        return Emit("padded", x, pads, mode, value, axes, helpers=("padded",), composed=True)
    where = tuple(axis % x.rank for axis in axes) if axes is not None else tuple(range(x.rank))
    half = len(pads) // 2
    found = {axis: (pads[i], pads[half + i]) for i, axis in enumerate(where)}
    if not any(any(pair) for pair in found.values()):
        return Emit("same", x)
    last = min(axis for axis, pair in found.items() if any(pair))
    sides = tuple(side for axis in range(x.rank - 1, last - 1, -1) for side in found.get(axis, (0, 0)))
    if mode == "constant":
        return Emit("ops.pad", x, sides, value=value if value else None)
    if x.rank - last > x.rank - 2 or x.rank < 3 or x.dtype != "float32" or min(sides) < 0:
        return Emit("padded", x, pads, mode, value, axes, helpers=("padded",), composed=True)
    names = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    full = sides + (0,) * (2 * (x.rank - 2) - len(sides))
    return Emit("ops.pad", x, full, mode=names[mode])


@ports("onnx.DepthToSpace")
def depth_to_space(call: Call) -> Emit:
    """DCR takes the blocks apart before the channels, CRD after them, as a pixel shuffle does."""
    if call.arguments.get("mode", "DCR") == "CRD":
        return Emit("ops.pixel_shuffle", call["input"], call["blocksize"])
    helper = "depth_to_space"
    return Emit(helper, call["input"], call["blocksize"], helpers=(helper,), composed=True)


@ports("onnx.SpaceToDepth")
def space_to_depth(call: Call) -> Emit:
    """The blocks' places come before the channels."""
    if call.arguments.get("mode", "DCR") == "CRD":
        return Emit("ops.pixel_unshuffle", call["input"], call["blocksize"])
    helper = "space_to_depth"
    return Emit(helper, call["input"], call["blocksize"], helpers=(helper,), composed=True)


@ports("onnx.ConstantOfShape")
def filled(call: Call) -> Emit:
    """Zeros where nothing is said."""
    value = call["value"]
    dtype = call.outputs[0].dtype
    number_ = 0.0 if value is None else value.reshape(-1)[0].item()
    shape = ints(call, "input")
    if number_ == 0 and dtype != "bool_":
        return Emit("ops.zeros", shape, typed(dtype))
    return Emit("ops.full", shape, number_, dtype=typed(dtype))


@ports("onnx.EyeLike")
def eye_like(call: Call) -> Emit:
    """The shape of another."""
    rows, columns = call["input"].shape
    made = Emit("ops.eye", rows, columns, typed(call.outputs[0].dtype))
    if call["k"] == 0:
        return made
    helper = "shifted_eye"
    return Emit(helper, rows, columns, call["k"], typed(call.outputs[0].dtype), helpers=(helper,), composed=True)


@ports("onnx.Size")
def size(call: Call) -> Emit:
    """How many numbers there are."""
    return Emit("Tensor", Emit("attribute", call["data"], "size"), typed("int64"))


@ports("onnx.OneHot")
def one_hot(call: Call) -> Emit:
    """Any two values; negative places count from behind."""
    helper = "one_hot_of"
    return Emit(
        helper,
        operand(call["indices"]),
        number(call, "depth"),
        call["values"],
        call["axis"],
        helpers=(helper,),
        composed=True,
    )


@ports("onnx.ReverseSequence")
def reverse_sequence(call: Call) -> Emit:
    """Each sample up to its own length."""
    helper = "reversed_sequences"
    lengths = call["sequence_lens"]
    return Emit(helper, call["input"], lengths, call["time_axis"], call["batch_axis"], helpers=(helper,), composed=True)


def is_whole(dtype: str) -> bool:
    """Whether it counts."""
    return dtype in INTEGERS


def rank_of(value: Any) -> int:
    """Of a tensor, or of lengths."""
    return value.rank if isinstance(value, Known) else np.ndim(value)


def dtype(value: Any) -> str:
    """Of a tensor, or of lengths."""
    return dtype_of(value)
