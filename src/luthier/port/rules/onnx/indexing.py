"""Choices by place, and numbers put into places."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, index
from luthier.port.known import Known
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import is_number, operand, plain

__all__: list[str] = []

ALL = slice(None)


@ports("onnx.Gather")
def gather(call: Call) -> Emit:
    """Rows by their places; negative ones count from behind."""
    data, places, axis = operand(call["data"]), call["indices"], call["axis"]
    rank = call["data"].rank if isinstance(call["data"], Known) else 1
    axis %= rank
    if isinstance(places, Known) and is_number(places) and places.rank == 0:
        return index(data, *(ALL,) * axis, plain(places))
    if isinstance(places, Known) and places.content is not None and places.content.min(initial=0) >= 0:
        return Emit("ops.gather", data, places, axis)
    if isinstance(places, Known) and axis == 0 and _is_table(call["data"]):
        return Emit("ops.gather", data, places, axis)  # words, which never count from behind
    return Emit("gathered", data, operand(places), axis, helpers=("gathered",), composed=True)


def _is_table(value: Any) -> bool:
    return isinstance(value, Known) and value.is_initialiser and value.rank == 2


@ports("onnx.GatherElements")
def gather_elements(call: Call) -> Emit:
    """Number by number; negative places count from behind in both."""
    return Emit("ops.gather_elements", call["data"], call["axis"], call["indices"])


@ports("onnx.GatherND")
def gather_nd(call: Call) -> Emit:
    """By places of several axes, after those of a batch."""
    if not call.arguments.get("batch_dims"):
        return Emit("gathered_nd", call["data"], call["indices"], 0, helpers=("gathered_nd",), composed=True)
    return Emit(
        "gathered_nd", call["data"], call["indices"], call["batch_dims"], helpers=("gathered_nd",), composed=True
    )


@ports("onnx.ScatterElements", "onnx.Scatter")
def scatter_elements(call: Call) -> Emit:
    """Put, or added, multiplied, the greater or the smaller kept."""
    kind = call.arguments.get("reduction", "none")
    helper = "scattered"
    return Emit(
        helper, call["data"], call["indices"], call["updates"], call["axis"], kind, helpers=(helper,), composed=True
    )


@ports("onnx.ScatterND")
def scatter_nd(call: Call) -> Emit:
    """By places of several axes."""
    kind = call.arguments.get("reduction", "none")
    helper = "scattered_nd"
    return Emit(helper, call["data"], call["indices"], call["updates"], kind, helpers=(helper,), composed=True)


@ports("onnx.Compress")
def compress(call: Call) -> Emit:
    """Those places of an axis for which the condition holds."""
    helper = "compressed"
    return Emit(helper, call["input"], call["condition"], call["axis"], helpers=(helper,), composed=True)


@ports("onnx.NonMaxSuppression")
def non_max_suppression(call: Call) -> Emit:
    """What is kept is counted as the network runs."""
    from luthier.port.rules.onnx.arguments import number

    helper = "non_max_suppression"
    return Emit(
        helper,
        call["boxes"],
        call["scores"],
        number(call, "max_output_boxes_per_class", 0),
        number(call, "iou_threshold", 0.0),
        number(call, "score_threshold"),
        bool(call["center_point_box"]),
        helpers=(helper,),
        composed=True,
    )


@ports("onnx.GridSample")
def grid_sample(call: Call) -> Emit:
    """MindSpore has no cubic one, and rounds a half to another pixel."""
    names = {"linear": "bilinear", "cubic": "bicubic"}
    mode = names.get(call["mode"], call["mode"])
    aligned, x = bool(call["align_corners"]), call["X"]
    if mode == "bilinear" and x.rank == 4 and x.dtype == "float32":
        keywords = {"padding_mode": call["padding_mode"], "align_corners": aligned}
        return Emit("ops.grid_sample", x, call["grid"], mode=mode, **keywords)
    helper = "grid_sampled"
    keywords = {"mode": mode, "padding": call["padding_mode"], "align_corners": aligned}
    return Emit(helper, x, call["grid"], helpers=(helper,), composed=True, **keywords)
