"""ONNX's reference loops over every pixel in Python: the same sums by NumPy, where the case is the usual one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_average_pool import AveragePool_19 as SlowAveragePool
from onnx.reference.ops.op_conv import Conv as SlowConv
from onnx.reference.ops.op_max_pool import MaxPool as SlowMaxPool

__all__ = ["FAST"]

Array = NDArray[Any]


def slow(kind: Any) -> Any:
    """ONNX's own, for what is not usual."""
    return kind


def windows(x: Array, kernel: Any, strides: Any, pads: Any, dilations: Any, fill: float) -> Array:
    """Every window of the padded image, on axes behind the others."""
    rank = len(kernel)
    sides = [(0, 0), (0, 0), *((pads[i], pads[rank + i]) for i in range(rank))]
    x = np.pad(x, sides, constant_values=fill)
    spans = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True))
    view: Any = sliding_window_view
    found: Array = view(x, spans, axis=tuple(range(2, 2 + rank)))
    keys = (slice(None), slice(None), *(slice(None, None, s) for s in strides))
    picked: Array = found[(*keys, *(slice(None, None, d) for d in dilations))]
    return picked


class Conv(OpRun):
    """A product of matrices over windows."""

    op_domain = ""

    def _run(self, x: Array, w: Array, b: Array | None = None, **given: Any) -> tuple[Array, ...]:
        rank = w.ndim - 2
        if (given.get("auto_pad") or "NOTSET") != "NOTSET" or x.ndim != w.ndim:
            found: tuple[Array, ...] = slow(SlowConv)._run(self, x, w, b, **given)
            return found
        strides, dilations = given.get("strides") or [1] * rank, given.get("dilations") or [1] * rank
        parts = windows(x, w.shape[2:], strides, given.get("pads") or [0] * 2 * rank, dilations, 0.0)
        groups = given.get("group") or 1
        each, out = x.shape[1] // groups, w.shape[0] // groups
        axes = list(range(2 + rank, 2 + 2 * rank))
        made = [
            np.tensordot(
                parts[:, g * each : (g + 1) * each],
                w[g * out : (g + 1) * out],
                ([1, *axes], list(range(1, rank + 2))),
            )
            for g in range(groups)
        ]
        y = np.moveaxis(np.concatenate(made, -1), -1, 1)
        if b is not None:
            y = y + b.reshape((1, -1) + (1,) * rank)
        return (np.ascontiguousarray(y.astype(x.dtype, copy=False)),)


class MaxPool(OpRun):
    """The greatest of every window."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array, ...]:
        kernel = given["kernel_shape"]
        rank = len(kernel)
        usual = (given.get("auto_pad") or "NOTSET") == "NOTSET" and not given.get("ceil_mode")
        if not usual or len(self.onnx_node.output) > 1 or x.dtype.kind != "f":
            found: tuple[Array, ...] = slow(SlowMaxPool)._run(self, x, **given)
            return found
        ones = [1] * rank
        strides, dilations = given.get("strides") or ones, given.get("dilations") or ones
        parts = windows(x, kernel, strides, given.get("pads") or [0] * 2 * rank, dilations, -np.inf)
        return (parts.max(axis=tuple(range(2 + rank, 2 + 2 * rank))),)


class AveragePool(OpRun):
    """The mean of every window."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array, ...]:
        kernel = given["kernel_shape"]
        rank = len(kernel)
        pads = given.get("pads") or [0] * 2 * rank
        usual = (given.get("auto_pad") or "NOTSET") == "NOTSET" and not given.get("ceil_mode")
        if not usual or (any(pads) and not given.get("count_include_pad")):
            found: tuple[Array, ...] = slow(SlowAveragePool)._run(self, x, **given)
            return found
        ones = [1] * rank
        parts = windows(x, kernel, given.get("strides") or ones, pads, given.get("dilations") or ones, 0.0)
        return (parts.mean(axis=tuple(range(2 + rank, 2 + 2 * rank))),)


FAST = (AveragePool, Conv, MaxPool)
