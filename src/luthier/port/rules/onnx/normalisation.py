"""Normalisations whose factors are at hand, written out."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports

__all__: list[str] = []


@ports("onnx.BatchNormalization")
def batch_norm(call: Call) -> Emit:
    """By moving statistics; in training by the batch's own, which then move them."""
    names = ("input_mean", "input_var") if "input_mean" in call.arguments else ("mean", "var")
    helper = "batch_norm_trained" if call.arguments.get("training_mode") else "batch_norm_moved"
    given = (call["X"], call["scale"], call["B"], call[names[0]], call[names[1]], call["epsilon"])
    if helper == "batch_norm_trained":
        made = Emit(helper, *given, call["momentum"], helpers=(helper,), composed=True)
        return made if len(call.outputs) > 1 else Emit("index", made, 0)
    return Emit(helper, *given, helpers=(helper,), composed=True)


@ports("onnx.LayerNormalization")
def layer_norm(call: Call) -> Emit:
    """Over every axis from one on; its mean and the inverse of its deviation may be asked for."""
    helper = "layer_norm_from"
    given = (call["X"], call["Scale"], call["B"], call["axis"] % call["X"].rank, call["epsilon"])
    made = Emit(helper, *given, helpers=(helper,), composed=True)
    return made if len(call.outputs) > 1 else Emit("index", made, 0)


@ports("onnx.RMSNormalization")
def rms_norm(call: Call) -> Emit:
    """By the root of the mean square, over every axis from one on."""
    axes = tuple(range(call["axis"] % call["X"].rank, call["X"].rank))
    return Emit("rms_norm", call["X"], call["scale"], axes, call["epsilon"], helpers=("rms_norm",), composed=True)


@ports("onnx.InstanceNormalization")
def instance_norm(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU: written out."""
    helper = "group_norm_of"
    x = call["input"]
    return Emit(helper, x, x.shape[1], call["scale"], call["B"], call["epsilon"], helpers=(helper,), composed=True)


@ports("onnx.GroupNormalization")
def group_norm(call: Call) -> Emit:
    """Before opset 21 the factors are a group's, since then a channel's."""
    helper = "group_norm_of"
    return Emit(
        helper,
        call["X"],
        call["num_groups"],
        call["scale"],
        call["bias"],
        call["epsilon"],
        helpers=(helper,),
        composed=True,
    )


@ports("onnx.RoiAlign")
def roi_align(call: Call) -> Emit:
    """Regions of an image, brought to one size."""
    if call["mode"] != "avg":
        raise Unsupported("RoiAlign(mode='max') has no MindSpore equivalent", at=call.at, hint="Use mode='avg'.")
    helper = "roi_aligned"
    return Emit(
        helper,
        call["X"],
        call["rois"],
        call["batch_indices"],
        (call["output_height"], call["output_width"]),
        call["sampling_ratio"],
        call["spatial_scale"],
        call.arguments.get("coordinate_transformation_mode", "output_half_pixel") == "half_pixel",
        helpers=(helper,),
        composed=True,
    )
