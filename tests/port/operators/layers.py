"""Convolutions, pooling, normalisation, products, attention, resizing."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as f

from tests.port.operators.cases import case, chosen


class Outputs(nn.Module):
    """What a recurrent layer gives at each step, and its last hidden state."""

    def __init__(self, layer: nn.LSTM | nn.GRU) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs, state = self.layer(x)
        return outputs, state[0] if isinstance(state, tuple) else state


ROW, IMAGE, BLOCK = (2, 4, 9), (2, 4, 9, 8), (2, 4, 5, 6, 7)
HEADS = (2, 3, 5, 8)

CASES = [
    case("torch.nn.Conv1d", nn.Conv1d(4, 6, 3, padding=1, stride=2), ROW),
    case("torch.nn.Conv2d", nn.Conv2d(4, 6, 3, padding=1), IMAGE),
    case("torch.nn.Conv2d", nn.Conv2d(4, 6, (3, 5), stride=2, padding=(0, 2), bias=False), IMAGE),
    case("torch.nn.Conv2d", nn.Conv2d(4, 8, 3, padding=2, dilation=2, groups=2), IMAGE),
    case("torch.nn.Conv2d", nn.Conv2d(4, 4, 3, padding="same", groups=4), IMAGE),
    case("torch.nn.Conv3d", nn.Conv3d(4, 6, 3, padding=1), BLOCK),
    case("torch.nn.ConvTranspose2d", nn.ConvTranspose2d(4, 6, 4, stride=2, padding=1), IMAGE),
    case(
        "aten.conv_transpose2d.input",
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
        IMAGE,
    ),
    case(
        "aten.conv_transpose2d.input", lambda x, w: f.conv_transpose2d(x, w, stride=2, dilation=2), IMAGE, (4, 3, 3, 3)
    ),
    case("aten.conv1d.default", lambda x, w: f.conv1d(x, w, padding=1), ROW, (6, 4, 3)),
    case("aten.conv2d.default", lambda x, w, b: f.conv2d(x, w, b, 2, (1, 2)), IMAGE, (6, 4, 3, 3), (6,)),
    case("aten.conv2d.padding", lambda x, w: f.conv2d(x, w, padding="same"), IMAGE, (6, 4, 3, 3)),
    case("aten.conv3d.default", lambda x, w: f.conv3d(x, w), BLOCK, (6, 4, 3, 3, 3)),
    case("torch.nn.MaxPool1d", nn.MaxPool1d(3, 2, padding=1), ROW),
    case("torch.nn.MaxPool2d", nn.MaxPool2d(2), IMAGE),
    case("torch.nn.MaxPool2d", nn.MaxPool2d(3, 2, padding=1, ceil_mode=True), IMAGE),
    case("torch.nn.MaxPool3d", nn.MaxPool3d(2), BLOCK),
    case("torch.nn.AvgPool1d", nn.AvgPool1d(3, 2), ROW),
    case("torch.nn.AvgPool2d", nn.AvgPool2d(2), IMAGE),
    case("torch.nn.AvgPool2d", nn.AvgPool2d(3, 2, padding=1, count_include_pad=False), IMAGE),
    case("torch.nn.AvgPool2d", nn.AvgPool2d(3, 2, padding=1, ceil_mode=True), IMAGE),
    case("torch.nn.AvgPool3d", nn.AvgPool3d(2), BLOCK),
    case("torch.nn.AdaptiveAvgPool1d", nn.AdaptiveAvgPool1d(3), ROW),
    case("torch.nn.AdaptiveAvgPool2d", nn.AdaptiveAvgPool2d((3, 5)), IMAGE),
    case("torch.nn.AdaptiveAvgPool3d", nn.AdaptiveAvgPool3d(2), BLOCK),
    case("torch.nn.AdaptiveMaxPool2d", nn.AdaptiveMaxPool2d(2), IMAGE),
    case("aten.max_pool1d.default", lambda x: f.max_pool1d(x, 3, 2, 1), ROW),
    case("aten.max_pool2d.default", lambda x: f.max_pool2d(x, 3, 2, 1), IMAGE),
    case("aten.max_pool3d.default", lambda x: f.max_pool3d(x, 2), BLOCK),
    case("aten.avg_pool1d.default", lambda x: f.avg_pool1d(x, 2), ROW),
    case("aten.avg_pool2d.default", lambda x: f.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGE),
    case("aten.avg_pool3d.default", lambda x: f.avg_pool3d(x, 2), BLOCK),
    case("aten.adaptive_avg_pool1d.default", lambda x: f.adaptive_avg_pool1d(x, 3), ROW),
    case("aten.adaptive_avg_pool2d.default", lambda x: f.adaptive_avg_pool2d(x, (2, 3)), IMAGE),
    case("aten.adaptive_avg_pool3d.default", lambda x: f.adaptive_avg_pool3d(x, 1), BLOCK),
    case("aten.adaptive_max_pool2d.default", lambda x: f.adaptive_max_pool2d(x, 2), IMAGE),
    case("torch.nn.BatchNorm1d", nn.BatchNorm1d(4), ROW),
    case("torch.nn.BatchNorm2d", nn.BatchNorm2d(4, eps=1e-3), IMAGE),
    case("torch.nn.BatchNorm3d", nn.BatchNorm3d(4), BLOCK),
    case("torch.nn.LayerNorm", nn.LayerNorm(8), IMAGE),
    case("aten.layer_norm.default", nn.LayerNorm((9, 8), eps=1e-4), IMAGE),
    case("aten.layer_norm.default", nn.LayerNorm(8, elementwise_affine=False), IMAGE),
    case("aten.layer_norm.default", nn.LayerNorm(8, bias=False), IMAGE),
    case("torch.nn.GroupNorm", nn.GroupNorm(2, 4), IMAGE),
    case("aten.group_norm.default", nn.GroupNorm(2, 4, affine=False), IMAGE),
    case("aten.instance_norm.default", nn.InstanceNorm2d(4, affine=True), IMAGE),
    case("aten.instance_norm.default", nn.InstanceNorm2d(4), IMAGE),
    case("aten.rms_norm.default", nn.RMSNorm(8), IMAGE),
    case("aten.rms_norm.default", nn.RMSNorm(8, eps=1e-5), IMAGE),
    case("aten.layer_norm.default", lambda x, w, b: f.layer_norm(x, (8,), w, b), IMAGE, (8,), (8,)),
    case("aten.group_norm.default", lambda x: f.group_norm(x, 2), IMAGE),
    case("aten.avg_pool3d.default", nn.LocalResponseNorm(3), IMAGE),
    case("torch.nn.Linear", nn.Linear(8, 5), IMAGE),
    case("torch.nn.Linear", nn.Linear(8, 5, bias=False), (3, 8)),
    case("aten.linear.default", lambda x, w, b: f.linear(x, w, b), IMAGE, (5, 8), (5,)),
    case("aten.matmul.default", lambda x, y: x @ y, IMAGE, (2, 4, 8, 3)),
    case("aten.mm.default", torch.mm, (3, 4), (4, 5)),
    case("aten.mv.default", torch.mv, (3, 4), (4,)),
    case("aten.dot.default", torch.dot, (4,), (4,)),
    case("aten.outer.default", torch.outer, (3,), (4,)),
    case("aten.bmm.default", torch.bmm, (2, 3, 4), (2, 4, 5)),
    case("aten.addmm.default", lambda x, y, z: torch.addmm(x, y, z, beta=0.5), (5,), (3, 4), (4, 5)),
    case("aten.baddbmm.default", torch.baddbmm, (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    case("aten.einsum.default", lambda x, y: torch.einsum("bhqd,bhkd->bhqk", x, y), HEADS, HEADS),
    case("aten.einsum.default", lambda x, y: torch.einsum("nchw,cd->ndhw", x, y), IMAGE, (4, 3)),
    case("aten.einsum.default", lambda x, y: torch.einsum("bnd,bnd->bn", x, y), (2, 3, 4), (2, 3, 4)),
    case("aten.einsum.default", lambda x: torch.einsum("ij->ji", x), (3, 4)),
    case("aten.scaled_dot_product_attention.default", f.scaled_dot_product_attention, HEADS, HEADS, HEADS),
    case(
        "aten.scaled_dot_product_attention.default",
        lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        *(HEADS, HEADS, HEADS),
    ),
    case(
        "aten.scaled_dot_product_attention.default",
        lambda q, k, v, m: f.scaled_dot_product_attention(q, k, v, m | torch.eye(5, dtype=torch.bool)),
        *(HEADS, HEADS, HEADS, chosen(5, 5)),
    ),
    case(
        "aten.scaled_dot_product_attention.default",
        lambda q, k, v: f.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        *((2, 4, 5, 8), (2, 2, 5, 8), (2, 2, 5, 8)),
    ),
    case("aten.upsample_nearest2d.vec", lambda x: f.interpolate(x, scale_factor=2), IMAGE),
    case("aten.upsample_nearest2d.vec", nn.Upsample(scale_factor=2), IMAGE),
    case("aten.upsample_bilinear2d.vec", lambda x: f.interpolate(x, (5, 13), mode="bilinear"), IMAGE),
    case(
        "aten.upsample_bilinear2d.vec",
        lambda x: f.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        IMAGE,
    ),
    case("aten.upsample_bicubic2d.vec", lambda x: f.interpolate(x, (5, 13), mode="bicubic"), IMAGE),
    case("aten.upsample_bicubic2d.vec", lambda x: f.interpolate(x, (12, 5), mode="bicubic", align_corners=True), IMAGE),
    case("aten._upsample_bicubic2d_aa.vec", lambda x: f.interpolate(x, (5, 13), mode="bicubic", antialias=True), IMAGE),
    case(
        "aten._upsample_bilinear2d_aa.vec", lambda x: f.interpolate(x, (5, 13), mode="bilinear", antialias=True), IMAGE
    ),
    case(
        "aten.grid_sampler.default", lambda x, g: f.grid_sample(x, g.tanh(), align_corners=False), IMAGE, (2, 3, 3, 2)
    ),
    case("torch.nn.PixelShuffle", nn.PixelShuffle(2), IMAGE),
    case("torch.nn.LayerNorm", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), (2, 5, 8)),
    case("torch.nn.LSTM", Outputs(nn.LSTM(8, 6, batch_first=True)), (2, 5, 8)),
    case("torch.nn.LSTM", Outputs(nn.LSTM(8, 6, num_layers=2, bidirectional=True)), (5, 2, 8)),
    case("torch.nn.GRU", Outputs(nn.GRU(8, 6, batch_first=True)), (2, 5, 8)),
    case("aten.conv1d.padding", lambda x, w: f.conv1d(x, w, padding="same"), ROW, (6, 4, 3)),
    case("aten.conv3d.padding", lambda x, w: f.conv3d(x, w, padding="valid"), BLOCK, (6, 4, 3, 3, 3)),
    case("aten.upsample_nearest1d.vec", lambda x: f.interpolate(x, scale_factor=2), ROW),
    case("aten.upsample_nearest3d.vec", lambda x: f.interpolate(x, scale_factor=2), BLOCK),
    case("aten.upsample_linear1d.vec", lambda x: f.interpolate(x, 12, mode="linear"), ROW),
    case("aten.upsample_trilinear3d.vec", lambda x: f.interpolate(x, (4, 4, 9), mode="trilinear"), BLOCK),
    case("aten.upsample_bilinear2d.vec", nn.Upsample((12, 5), mode="bilinear"), IMAGE),
    case("torch.nn.Dropout3d", nn.Dropout3d(0.3), BLOCK),
    case("aten.feature_dropout.default", lambda x: f.dropout2d(x, 0.0, False), IMAGE),
]
