"""Resizing images, in every mode, by every way to place pixels."""

from __future__ import annotations

from typing import Any

import numpy as np

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.graph import Size
from luthier.port.registry import ports
from luthier.port.rules.onnx.arguments import array, ints, known

__all__: list[str] = []


SETTINGS = (
    "mode",
    "coordinate_transformation_mode",
    "nearest_mode",
    "cubic_coeff_a",
    "exclude_outside",
    "antialias",
    "extrapolation_value",
    "keep_aspect_ratio_policy",
)


@ports("onnx.Upsample")
def upsample(call: Call) -> Emit:
    """Resize as it was called before opset 10: pixels stand at their beginnings."""
    settings = {
        "mode": call["mode"],
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    if not known(call["scales"]):
        return dynamic(call, settings)
    scales = call["scales"] if isinstance(call["scales"], tuple) else tuple(array(call, "scales").tolist())
    return resized(call, scales, settings)


@ports("onnx.Resize")
def resize(call: Call) -> Emit:
    """By factors or to sizes; a region of interest where the mode asks for one."""
    given = {name: call[name] for name in SETTINGS if call.arguments.get(name) is not None}
    if call["since"] < 11:
        given |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    sizes = call.arguments.get("sizes")
    if sizes is not None and not (known(sizes) and np.size(getattr(sizes, "content", sizes)) == 0):
        whole = ints(call, "sizes")
        if isinstance(whole, Emit):
            return dynamic(call, given)
        axes = call.arguments.get("axes") or range(call["X"].rank)
        own = [call["X"].shape[axis] for axis in axes]
        if any(isinstance(s, Size) and str(s.text) != getattr(o, "text", "") for s, o in zip(whole, own, strict=True)):
            return dynamic(call, given)
        return resized(call, None, given, whole)
    if not known(call["scales"]):
        return dynamic(call, given)
    return resized(call, tuple(float(item) for item in array(call, "scales").reshape(-1)), given)


def dynamic(call: Call, given: dict[str, Any]) -> Emit:
    """Factors or sizes that come as the network runs."""
    sizes = call.arguments.get("sizes")
    names = {"mode": "kind", "coordinate_transformation_mode": "places", "nearest_mode": "rounding"}
    settings = {names[name]: value for name, value in given.items() if name in names}
    if len(settings) != len(given) and any(
        given.get(name) for name in ("antialias", "exclude_outside") if name in given
    ):
        settings |= {name: bool(given[name]) for name in ("antialias", "exclude_outside") if given.get(name)}
    if given.get("keep_aspect_ratio_policy", "stretch") != "stretch" or "tf_crop" in str(settings.get("places")):
        if "tf_crop" in str(settings.get("places")):
            settings |= {"outside": given.get("extrapolation_value", 0.0), "region": Emit("numbers", call["roi"])}
        if given.get("keep_aspect_ratio_policy", "stretch") != "stretch":
            settings["policy"] = given["keep_aspect_ratio_policy"]
    if given.get("cubic_coeff_a", -0.75) != -0.75:
        settings["a"] = given["cubic_coeff_a"]
    sized = sizes is not None and not (known(sizes) and np.size(getattr(sizes, "content", sizes)) == 0)
    value = ints(call, "sizes") if sized else Emit("numbers", call["scales"], helpers=("numbers",))
    return Emit(
        "resized_by",
        call["X"],
        value,
        sized,
        call.arguments.get("axes"),
        helpers=("resized_by", "numbers"),
        composed=True,
        **settings,
    )


def resized(call: Call, scales: Any, given: dict[str, Any], sizes: Any = None) -> Emit:
    """Axis by axis, those alone that change."""
    x = call["X"]
    axes = tuple(axis % x.rank for axis in call.arguments.get("axes") or range(x.rank))
    before = [x.shape[axis] for axis in axes]
    if any(isinstance(length, Size) and not _stays(i, length, sizes, scales) for i, length in enumerate(before)):
        raise Unsupported("A resize of an open size has no rule", at=call.at, hint="Fix it by --input.")
    policy = given.pop("keep_aspect_ratio_policy", "stretch")
    if sizes is not None:
        scales = tuple(1.0 if isinstance(b, Size) else s / b for s, b in zip(sizes, before, strict=True))
        if policy != "stretch":
            one = (min if policy == "not_larger" else max)(scales)
            scales = (one,) * len(scales)
    roi = array(call, "roi").reshape(-1).tolist() if "tf_crop" in given["coordinate_transformation_mode"] else []
    crops = {axis: (roi[i], roi[len(axes) + i]) for i, axis in enumerate(axes)} if roi else {}
    after = {axis: call.outputs[0].shape[axis] for axis in axes}
    changed = [
        (axis, scale) for axis, scale in zip(axes, scales, strict=True) if after[axis] != x.shape[axis] or axis in crops
    ]
    if not changed:
        return Emit("same", x)
    simple = _interpolated(call, [axis for axis, _ in changed], dict(changed), given)
    if simple is not None:
        return simple
    return _composed(call, changed, given, crops)


def _stays(i: int, length: Size, sizes: Any, scales: Any) -> bool:
    return bool(scales and scales[i] == 1) or bool(sizes and getattr(sizes[i], "text", "") == length.text)


def _interpolated(call: Call, axes: list[int], scales: dict[int, float], given: dict[str, Any]) -> Emit | None:
    """MindSpore's own, where it means the same."""
    x, size = call["X"], call.outputs[0].shape[2:]
    exact = all(x.shape[axis] * scales[axis] == call.outputs[0].shape[axis] for axis in axes)
    mode, places = given["mode"], given["coordinate_transformation_mode"]
    if x.rank != 4 or x.dtype != "float32" or not exact or axes[0] < 2 or given.get("antialias"):
        return None
    if mode == "nearest" and places == "asymmetric" and given["nearest_mode"] == "floor":
        return Emit("ops.interpolate", x, size=size, mode="nearest")
    if mode != "linear" or 1 in size or given.get("exclude_outside"):
        return None
    if places in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        aligned = places == "align_corners"
        return Emit("ops.interpolate", x, size=size, mode="bilinear", align_corners=aligned)
    return None


def _composed(call: Call, changed: list[tuple[int, float]], given: dict[str, Any], crops: dict[int, Any]) -> Emit:
    made: Any = call["X"]
    for axis, scale in changed:
        keywords: dict[str, Any] = {
            "kind": given["mode"],
            "places": given["coordinate_transformation_mode"],
            "rounding": given.get("nearest_mode", "round_prefer_floor"),
            "a": given.get("cubic_coeff_a", -0.75),
            "exclude_outside": bool(given.get("exclude_outside")),
            "antialias": bool(given.get("antialias")),
        }
        usual = {
            "kind": "nearest",
            "places": "half_pixel",
            "rounding": "round_prefer_floor",
            "a": -0.75,
            "exclude_outside": False,
            "antialias": False,
        }
        keywords = {name: value for name, value in keywords.items() if value != usual[name]}
        if axis in crops:
            keywords |= {"region": crops[axis], "outside": given.get("extrapolation_value", 0.0)}
        made = Emit(
            "resized",
            made,
            axis,
            call.outputs[0].shape[axis],
            scale,
            helpers=("resized",),
            composed=True,
            **keywords,
        )
    return made  # type: ignore[no-any-return]
