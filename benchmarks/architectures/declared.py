"""The operators that torchvision registers from its binary, which is another PyTorch's: declared by hand."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["BINARY"]

BINARY: Any = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
for schema in (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
):
    BINARY.define(schema)
