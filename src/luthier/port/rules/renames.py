"""Operators that MindSpore has under another name, with the same arguments in the same order. A table of data."""

from __future__ import annotations

from collections.abc import Mapping

from luthier.port.emit import Call, Emit
from luthier.port.registry import Rule, ports

__all__ = ["RENAMES"]

RENAMES: Mapping[str, tuple[str, ...]] = {
    "aten.abs.default": ("ops.abs", "self"),
    "aten.acos.default": ("ops.acos", "self"),
    "aten.adaptive_avg_pool2d.default": ("ops.adaptive_avg_pool2d", "self", "output_size"),
    "aten.adaptive_avg_pool3d.default": ("ops.adaptive_avg_pool3d", "self", "output_size"),
    "aten.asin.default": ("ops.asin", "self"),
    "aten.atan.default": ("ops.atan", "self"),
    "aten.atan2.default": ("ops.atan2", "self", "other"),
    "aten.bmm.default": ("ops.bmm", "self", "mat2"),
    "aten.ceil.default": ("ops.ceil", "self"),
    "aten.celu.default": ("ops.celu", "self", "alpha"),
    "aten.cos.default": ("ops.cos", "self"),
    "aten.cosh.default": ("ops.cosh", "self"),
    "aten.cosine_similarity.default": ("ops.cosine_similarity", "x1", "x2", "dim", "eps"),
    "aten.diagonal.default": ("ops.diagonal", "self", "offset", "dim1", "dim2"),
    "aten.erf.default": ("ops.erf", "self"),
    "aten.exp.default": ("ops.exp", "self"),
    "aten.expm1.default": ("ops.expm1", "self"),
    "aten.flip.default": ("ops.flip", "self", "dims"),
    "aten.floor.default": ("ops.floor", "self"),
    "aten.fmod.Scalar": ("ops.fmod", "self", "other"),
    "aten.fmod.Tensor": ("ops.fmod", "self", "other"),
    "aten.gather.default": ("ops.gather_elements", "self", "dim", "index"),
    "aten.glu.default": ("ops.glu", "self", "dim"),
    "aten.isfinite.default": ("ops.isfinite", "self"),
    "aten.isinf.default": ("ops.isinf", "self"),
    "aten.isnan.default": ("ops.isnan", "self"),
    "aten.lerp.Scalar": ("ops.lerp", "self", "end", "weight"),
    "aten.log.default": ("ops.log", "self"),
    "aten.log1p.default": ("ops.log1p", "self"),
    "aten.log2.default": ("ops.log2", "self"),
    "aten.logical_and.default": ("ops.logical_and", "self", "other"),
    "aten.logical_not.default": ("ops.logical_not", "self"),
    "aten.logical_or.default": ("ops.logical_or", "self", "other"),
    "aten.logical_xor.default": ("ops.logical_xor", "self", "other"),
    "aten.maximum.default": ("ops.maximum", "self", "other"),
    "aten.minimum.default": ("ops.minimum", "self", "other"),
    "aten.mish.default": ("ops.mish", "self"),
    "aten.mm.default": ("ops.matmul", "self", "mat2"),
    "aten.movedim.int": ("ops.movedim", "self", "source", "destination"),
    "aten.mv.default": ("ops.mv", "self", "vec"),
    "aten.outer.default": ("ops.outer", "self", "vec2"),
    "aten.pixel_shuffle.default": ("ops.pixel_shuffle", "self", "upscale_factor"),
    "aten.pixel_unshuffle.default": ("ops.pixel_unshuffle", "self", "downscale_factor"),
    "aten.prelu.default": ("ops.prelu", "self", "weight"),
    "aten.reciprocal.default": ("ops.reciprocal", "self"),
    "aten.relu.default": ("ops.relu", "self"),
    "aten.relu6.default": ("ops.relu6", "self"),
    "aten.remainder.Scalar": ("ops.remainder", "self", "other"),
    "aten.remainder.Tensor": ("ops.remainder", "self", "other"),
    "aten.round.default": ("ops.round", "self"),
    "aten.rsqrt.default": ("ops.rsqrt", "self"),
    "aten.hardsigmoid.default": ("ops.hardsigmoid", "self"),
    "aten.hardswish.default": ("ops.hardswish", "self"),
    "aten.sigmoid.default": ("ops.sigmoid", "self"),
    "aten.sign.default": ("ops.sign", "self"),
    "aten.silu.default": ("ops.silu", "self"),
    "aten.sin.default": ("ops.sin", "self"),
    "aten.sinh.default": ("ops.sinh", "self"),
    "aten.softplus.default": ("ops.softplus", "self", "beta", "threshold"),
    "aten.sqrt.default": ("ops.sqrt", "self"),
    "aten.square.default": ("ops.square", "self"),
    "aten.stack.default": ("ops.stack", "tensors", "dim"),
    "aten.tan.default": ("ops.tan", "self"),
    "aten.threshold.default": ("ops.threshold", "self", "threshold", "value"),
    "aten.tile.default": ("ops.tile", "self", "dims"),
    "aten.tril.default": ("ops.tril", "self", "diagonal"),
    "aten.triu.default": ("ops.triu", "self", "diagonal"),
    "aten.trunc.default": ("ops.trunc", "self"),
    "aten.unbind.int": ("ops.unbind", "self", "dim"),
    "aten.unsqueeze.default": ("ops.unsqueeze", "self", "dim"),
    "aten.where.ScalarOther": ("ops.where", "condition", "self", "other"),
    "aten.where.ScalarSelf": ("ops.where", "condition", "self", "other"),
    "aten.where.self": ("ops.where", "condition", "self", "other"),
    "torch.nn.ReLU": ("nn.ReLU",),
    "torch.nn.ReLU6": ("nn.ReLU6",),
    "torch.nn.SiLU": ("nn.SiLU",),
    "torch.nn.Sigmoid": ("nn.Sigmoid",),
    "torch.nn.Hardswish": ("nn.HSwish",),
    "torch.nn.Hardsigmoid": ("nn.HSigmoid",),
    "torch.nn.Mish": ("nn.Mish",),
    "torch.nn.LogSigmoid": ("nn.LogSigmoid",),
    "torch.nn.Softsign": ("nn.Softsign",),
}


def renaming(target: str, *names: str) -> Rule:
    """The rule of one row."""

    def renamed(call: Call) -> Emit:
        """The same function under another name."""
        return Emit(target, *(call[name] for name in names))

    return renamed


for _operator, (_target, *_names) in RENAMES.items():
    ports(_operator)(renaming(_target, *_names))
