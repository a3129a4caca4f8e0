"""ONNX's padding to the same size, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

from luthier.port.graph import Size

__all__ = ["padding"]


def padding(
    auto_pad: str,
    pads: Sequence[int] | None,
    spatial: Sequence[int | Size],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...] | None:
    """Of every side, first all the beginnings; none where it depends on a length that is open."""
    if auto_pad in ("NOTSET", "VALID"):
        return tuple(pads or (0,) * 2 * len(kernel)) if auto_pad == "NOTSET" else (0,) * 2 * len(kernel)
    begins, ends = [], []
    for length, size, stride, dilation in zip(spatial, kernel, strides, dilations, strict=True):
        span = dilation * (size - 1) + 1
        if isinstance(length, Size):
            if stride != 1:
                return None
            total = span - 1
        else:
            total = max((-(-length // stride) - 1) * stride + span - length, 0)
        small, great = total // 2, total - total // 2
        begins.append(small if auto_pad == "SAME_UPPER" else great)
        ends.append(great if auto_pad == "SAME_UPPER" else small)
    return (*begins, *ends)
