"""Pooling and convolutions as functions, of every rank, padding and dilation."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Unsupported, index
from luthier.port.graph import Size
from luthier.port.padding import padding
from luthier.port.registry import ports
from luthier.port.rules.convolution import one
from luthier.port.rules.onnx.arguments import known

__all__: list[str] = []


def window(call: Call, kernel: tuple[int, ...], x: Any) -> tuple[tuple[int, ...], ...]:
    """Strides, dilations and the padding of every side."""
    strides = call["strides"] or (1,) * len(kernel)
    dilations = call.arguments.get("dilations") or (1,) * len(kernel)
    pads = padding(call["auto_pad"], call["pads"], x.shape[2:], kernel, strides, dilations)
    if pads is None:
        raise Unsupported(
            f"{call.operator} that pads an open length to the same size has no rule",
            at=call.at,
            hint="Fix the input's height and width by --input.",
        )
    return strides, dilations, pads


def is_even(pads: tuple[int, ...]) -> bool:
    """Whether both sides of every axis are padded alike."""
    half = len(pads) // 2
    return pads[:half] == pads[half:]


@ports("onnx.nn.MaxPool")
def max_pool_layer(call: Call) -> Emit:
    """MindSpore's stride is one where nothing is said, as ONNX's is."""
    strides, dilations, pads = _settled(call)
    rank = len(call["kernel_shape"])
    if rank != 2 or not is_even(pads) or call["storage_order"]:
        return Emit("forward")
    plain = not any(pads) and not call["ceil_mode"] and set(dilations) == {1}
    return Emit(
        "nn.MaxPool2d",
        kernel_size=one(call["kernel_shape"]),
        stride=one(strides),
        pad_mode="valid" if plain else "pad",
        padding=one(pads[:rank]),
        dilation=one(dilations),
        ceil_mode=bool(call["ceil_mode"]),
    )


def _settled(call: Call) -> tuple[tuple[int, ...], ...]:
    """As a layer it does not know its input: paddings to the same size are left to the function."""
    rank = len(call["kernel_shape"])
    strides, dilations = call["strides"] or (1,) * rank, call.arguments.get("dilations") or (1,) * rank
    if call["auto_pad"] in ("NOTSET", "VALID"):
        given = call["pads"] if call["auto_pad"] == "NOTSET" else None
        return strides, dilations, given or (0,) * 2 * rank
    return strides, dilations, (0,) * rank + (1,) * rank


@ports("onnx.nn.AveragePool")
def average_pool_layer(call: Call) -> Emit:
    """ONNX does not count the padding where nothing is said, MindSpore does."""
    strides, dilations, pads = _settled(call)
    rank = len(call["kernel_shape"])
    if rank != 2 or not is_even(pads) or set(dilations) != {1} or call.arguments.get("ceil_mode"):
        return Emit("forward")
    plain = not any(pads)
    return Emit(
        "nn.AvgPool2d",
        kernel_size=one(call["kernel_shape"]),
        stride=one(strides),
        pad_mode="valid" if plain else "pad",
        padding=one(pads[:rank]),
        count_include_pad=bool(call["count_include_pad"]) or plain,
    )


@ports("onnx.MaxPool")
def max_pool(call: Call) -> Emit:
    """Padded with minus infinity, then windows, since MindSpore's own knows neither uneven sides nor every type."""
    x, kernel = call["X"], call["kernel_shape"]
    strides, dilations, pads = window(call, kernel, x)
    plain = len(kernel) == 2 and is_even(pads) and x.dtype == "float32" and len(call.outputs) == 1
    half = tuple(pads[: len(kernel)])
    plain = plain and set(dilations) == {1} and not call["ceil_mode"]
    if plain and all(2 * side <= size for side, size in zip(half, kernel, strict=True)):
        return Emit("ops.max_pool2d", x, one(kernel), stride=one(strides), padding=one(half))
    shape = call.outputs[0].shape[2:]
    made = Emit(
        "max_pooled",
        x,
        kernel,
        strides,
        pads,
        dilations,
        open_or(shape),
        bool(call.arguments.get("storage_order")),
        helpers=("max_pooled",),
        composed=True,
    )
    return made if len(call.outputs) > 1 else index(made, 0)


def open_or(shape: tuple[Any, ...]) -> Any:
    """The result's lengths, unless one is open."""
    return None if any(isinstance(length, Size) for length in shape) else shape


@ports("onnx.AveragePool")
def average_pool(call: Call) -> Emit:
    """The padding counts if it says so; what a rounding upwards adds never does."""
    x, kernel = call["X"], call["kernel_shape"]
    strides, dilations, pads = window(call, kernel, x)
    if len(kernel) == 2 and not any(pads) and set(dilations) == {1} and not call.arguments.get("ceil_mode"):
        return Emit("ops.avg_pool2d", x, one(kernel), stride=one(strides))
    shape = call.outputs[0].shape[2:]
    return Emit(
        "average_pooled",
        x,
        kernel,
        strides,
        pads,
        dilations,
        open_or(shape),
        bool(call["count_include_pad"]),
        helpers=("average_pooled",),
        composed=True,
    )


@ports("onnx.LpPool")
def lp_pool(call: Call) -> Emit:
    """The root of a sum of powers."""
    x, kernel = call["X"], call["kernel_shape"]
    strides, dilations, pads = window(call, kernel, x)
    shape = call.outputs[0].shape[2:]
    return Emit(
        "lp_pooled",
        x,
        kernel,
        strides,
        pads,
        dilations,
        open_or(shape),
        call["p"],
        helpers=("lp_pooled",),
        composed=True,
    )


@ports("onnx.GlobalAveragePool")
def global_average(call: Call) -> Emit:
    """The mean over everything but batch and channels."""
    return Emit("ops.mean", call["X"], axis=tuple(range(2, call["X"].rank)), keep_dims=True)


@ports("onnx.nn.GlobalAveragePool")
def global_average_layer(call: Call) -> Emit:
    """To one pixel."""
    return Emit("nn.AdaptiveAvgPool2d", 1)


@ports("onnx.GlobalMaxPool")
def global_max(call: Call) -> Emit:
    """The greatest over everything but batch and channels."""
    return Emit("ops.amax", call["X"], axis=tuple(range(2, call["X"].rank)), keepdims=True)


@ports("onnx.Conv")
def conv(call: Call) -> Emit:
    """A convolution whose weight is at hand."""
    x, weight = call["X"], call["W"]
    kernel = tuple(weight.shape[2:]) if weight.ranked and weight.rank > 2 else call["kernel_shape"]
    strides, dilations, pads = window(call, kernel, x)
    rank = len(kernel)
    value: Any = x
    if not is_even(pads):
        sides = tuple(side for axis in range(rank - 1, -1, -1) for side in (pads[axis], pads[rank + axis]))
        value, pads = Emit("ops.pad", x, sides), (0,) * 2 * rank
    half = pads[:rank]
    return Emit(
        f"ops.conv{rank}d",
        value,
        weight,
        bias=call["B"],
        stride=one(strides),
        pad_mode="pad" if any(half) else "valid",
        padding=one(half),
        dilation=one(dilations),
        groups=call["group"],
    )


@ports("onnx.ConvTranspose")
def conv_transpose(call: Call) -> Emit:
    """MindSpore's function has no kernel on a CPU: zeros between the pixels, then a convolution."""
    x, weight = call["X"], call["W"]
    kernel = tuple(weight.shape[2:])
    rank = len(kernel)
    strides = call["strides"] or (1,) * rank
    dilations = call["dilations"] or (1,) * rank
    extra = call["output_padding"] or (0,) * rank
    pads = call["pads"] or (0,) * 2 * rank
    spatial = x.shape[2:]
    if call["auto_pad"].startswith("SAME") or call["output_shape"]:
        if any(isinstance(length, Size) for length in spatial):
            raise Unsupported(
                "A transposed convolution to a given size of an open length has no rule", at=call.at, hint="Fix it."
            )
        wanted = call["output_shape"] or tuple(n * s for n, s in zip(spatial, strides, strict=True))
        begins, ends = [], []
        for n, s, k, d, e, w in zip(spatial, strides, kernel, dilations, extra, wanted[-rank:], strict=True):
            total = s * (n - 1) + e + (k - 1) * d + 1 - w
            small, great = total // 2, total - total // 2
            upper = call["auto_pad"] == "SAME_UPPER"
            begins.append(small if upper else great)
            ends.append(great if upper else small)
        pads = (*begins, *ends)
    elif call["auto_pad"] == "VALID":
        pads = (0,) * 2 * rank
    helper = "transposed_conv"
    return Emit(
        helper, x, weight, call["B"], strides, pads, extra, call["group"], dilations, helpers=(helper,), composed=True
    )


@ports("onnx.Col2Im")
def col2im(call: Call) -> Emit:
    """The sum of overlapping windows."""
    from luthier.port.rules.onnx.arguments import ints

    shape, block = ints(call, "image_shape"), ints(call, "block_shape")
    rank = call.outputs[0].rank - 2 if isinstance(block, Emit) else len(block)
    helper = "folded"
    given = [call[name] or default for name, default in (("strides", (1,) * rank), ("dilations", (1,) * rank))]
    pads = call["pads"] or (0,) * 2 * rank
    return Emit(helper, call["input"], shape, block, *given, pads, helpers=(helper,), composed=True)


@ports("onnx.MaxUnpool")
def max_unpool(call: Call) -> Emit:
    """Every number back to its place, zeros elsewhere."""
    from luthier.port.rules.onnx.arguments import ints

    shape = ints(call, "output_shape")
    if shape is None or (isinstance(shape, tuple) and not known(shape)):
        shape = call.outputs[0].shape
    kernel = call["kernel_shape"]
    strides, pads = call["strides"] or (1,) * len(kernel), call["pads"] or (0,) * 2 * len(kernel)
    natural = tuple(
        (n - 1) * s - pads[i] - pads[len(kernel) + i] + k
        for i, (n, s, k) in enumerate(zip(call["X"].shape[2:], strides, kernel, strict=True))
    )
    helper = "unpooled"
    return Emit(helper, call["X"], call["I"], natural, shape, helpers=(helper,), composed=True)


@ports("onnx.LRN")
def lrn(call: Call) -> Emit:
    """A window over the channels, longer behind where its size is even."""
    helper = "local_response_norm"
    return Emit(
        helper,
        call["X"],
        call["size"],
        call["alpha"],
        call["beta"],
        call["bias"],
        helpers=(helper,),
        composed=True,
    )
