"""Arithmetic and activations."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as f

from tests.port.operators.cases import case, chosen, integers

X = (2, 3, 4)
POSITIVE = np.random.default_rng(0).random(X).astype(np.float32) + 0.5
INNER = np.random.default_rng(1).random(X).astype(np.float32) * 1.8 - 0.9


def copied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x * 2
    z[:] = y
    return z * x


CASES = [
    *(
        case(
            f"aten.{name}.default",
            getattr(torch, name),
            X,
            gradient=name not in ("sign", "floor", "ceil", "round", "trunc"),
        )
        for name in (
            *("abs", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor", "frac", "neg", "round", "sigmoid"),
            *("sign", "sin", "sinh", "square", "tan", "tanh", "trunc", "relu", "atan", "positive", "clone"),
        )
    ),
    *(
        case(f"aten.{name}.default", getattr(torch, name), POSITIVE)
        for name in ("log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sqrt")
    ),
    *(case(f"aten.{name}.default", getattr(torch, name), INNER) for name in ("acos", "asin")),
    *(
        case(f"aten.{name}.default", getattr(f, name), X)
        for name in ("hardsigmoid", "hardswish", "mish", "relu6", "selu", "silu", "softplus", "celu", "elu", "gelu")
    ),
    case("aten.elu.default", lambda x: f.elu(x, 0.7), X),
    case("aten.celu.default", lambda x: f.celu(x, 0.7), X),
    case("aten.gelu.default", lambda x: f.gelu(x, approximate="tanh"), X),
    case("aten.glu.default", lambda x: f.glu(x, 2), X),
    case("aten.hardshrink.default", f.hardshrink, X),
    case("aten.hardtanh.default", lambda x: f.hardtanh(x, -0.5, 0.7), X),
    case("aten.leaky_relu.default", f.leaky_relu, X),
    case("aten.log_sigmoid.default", f.logsigmoid, X),
    case("aten.logit.default", lambda x: torch.logit(x, 1e-3), np.abs(INNER)),
    case("aten.prelu.default", f.prelu, X, np.full(3, 0.3, np.float32)),
    case("aten.softmax.int", lambda x: x.softmax(1), X),
    case("aten.log_softmax.int", lambda x: x.log_softmax(-1), X),
    case("aten.softshrink.default", f.softshrink, X),
    case("aten.softplus.default", lambda x: f.softplus(x, 2.0, 10.0), X),
    case("aten.threshold.default", lambda x: f.threshold(x, 0.1, 0.2), X),
    case("aten.add.Tensor", lambda x, y: torch.add(x, y, alpha=0.5) + 1.5, X, X),
    case("aten.sub.Tensor", lambda x, y: torch.sub(x, y, alpha=2) - y, X, X),
    case("aten.rsub.Scalar", lambda x: 1 - x, X),
    case("aten.mul.Tensor", lambda x, y: x * y * 2, X, (3, 1)),
    case("aten.div.Tensor", lambda x, y: x / y / 3, X, POSITIVE),
    case("aten.div.Tensor_mode", lambda x: torch.div(x, 0.3, rounding_mode="floor"), X, gradient=False),
    case("aten.div.Tensor_mode", lambda x: torch.div(x, 0.3, rounding_mode="trunc"), X, gradient=False),
    case("aten.floor_divide.default", lambda x: x // 0.3, X, gradient=False),
    case("aten.fmod.Scalar", lambda x: torch.fmod(x, 0.7), X),
    case("aten.fmod.Tensor", torch.fmod, X, POSITIVE),
    case("aten.remainder.Scalar", lambda x: x % 0.7, X),
    case("aten.remainder.Tensor", lambda x, y: x % y, X, POSITIVE),
    case("aten.pow.Tensor_Scalar", lambda x: x**2 + x**3, X),
    case("aten.pow.Tensor_Tensor", torch.pow, POSITIVE, X),
    case("aten.pow.Scalar", lambda x: 2.0**x, X),
    case("aten.clamp.default", lambda x: x.clamp(-0.5, 0.5), X),
    case("aten.clamp.Tensor", lambda x, y: torch.clamp(x, max=y), X, POSITIVE),
    case("aten.clamp_min.default", lambda x: x.clamp_min(0.1), X),
    case("aten.clamp_max.default", lambda x: x.clamp_max(0.1), X),
    case("aten.addcmul.default", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), X, X, X),
    case("aten.addcdiv.default", lambda x, y, z: torch.addcdiv(x, y, z), X, X, POSITIVE),
    case("aten.lerp.Scalar", lambda x, y: torch.lerp(x, y, 0.3), X, X),
    case("aten.lerp.Tensor", torch.lerp, X, X, X),
    case("aten.atan2.default", torch.atan2, X, POSITIVE),
    case("aten.maximum.default", torch.maximum, X, X),
    case("aten.minimum.default", torch.minimum, X, X),
    case("aten.masked_fill.Scalar", lambda x, m: x.masked_fill(m, -1.0), X, chosen(*X)),
    case("aten.where.self", lambda m, x, y: torch.where(m, x, y), chosen(*X), X, X),
    case("aten.where.ScalarOther", lambda m, x: torch.where(m, x, 0.5), chosen(*X), X),
    *(
        case(f"aten.{name}.Tensor", getattr(torch, name), integers(3, *X), integers(2, *X), gradient=False)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(
        case(f"aten.{name}.Scalar", lambda x, name=name: getattr(torch, name)(x, 0.1), X, gradient=False)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(
        case(
            f"aten.logical_{name}.default",
            getattr(torch, f"logical_{name}"),
            chosen(*X),
            chosen(2, 1, 4),
            gradient=False,
        )
        for name in ("and", "or", "xor")
    ),
    case("aten.logical_not.default", torch.logical_not, chosen(*X), gradient=False),
    case("aten.bitwise_not.default", lambda m: ~m, chosen(*X), gradient=False),
    case("aten.__and__.Tensor", lambda m, n: m & n, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.__or__.Tensor", lambda m, n: m | n, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.__xor__.Tensor", lambda m, n: m ^ n, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.isnan.default", torch.isnan, X, gradient=False),
    case("aten.isinf.default", torch.isinf, X, gradient=False),
    case("aten.isfinite.default", torch.isfinite, X, gradient=False),
    case("aten.to.dtype", lambda x: x.to(torch.float16).float() + x.int(), X),
    case("aten.type_as.default", lambda x, i: i.type_as(x) * x, X, integers(5, *X)),
    case("aten.detach.default", lambda x: x * x.detach(), X),
    case("aten.contiguous.default", lambda x: x.transpose(0, 1).contiguous() * 2, X),
    case("aten.dropout.default", lambda x: f.dropout(x, 0.0, False), X),
    case("torch.nn.ReLU", nn.ReLU(), X),
    case("torch.nn.ReLU6", nn.ReLU6(), X),
    case("torch.nn.SiLU", nn.SiLU(), X),
    case("torch.nn.Sigmoid", nn.Sigmoid(), X),
    case("torch.nn.Tanh", nn.Tanh(), X),
    case("torch.nn.GELU", nn.GELU(), X),
    case("torch.nn.GELU", nn.GELU("tanh"), X),
    case("torch.nn.ELU", nn.ELU(), X),
    case("torch.nn.Mish", nn.Mish(), X),
    case("torch.nn.LeakyReLU", nn.LeakyReLU(0.1), X),
    case("torch.nn.PReLU", nn.PReLU(3), (2, 3, 4, 4)),
    case("torch.nn.Hardswish", nn.Hardswish(), X),
    case("torch.nn.Hardsigmoid", nn.Hardsigmoid(), X),
    case("torch.nn.Hardtanh", nn.Hardtanh(-0.4, 0.6), X),
    case("torch.nn.LogSigmoid", nn.LogSigmoid(), X),
    case("torch.nn.Softsign", nn.Softsign(), X),
    case("aten.softplus.default", nn.Softplus(), X),
    case("torch.nn.Softmax", nn.Softmax(1), X),
    case("torch.nn.LogSoftmax", nn.LogSoftmax(-1), X),
    case("torch.nn.Dropout", nn.Dropout(0.3), X),
    case("torch.nn.Dropout2d", nn.Dropout2d(0.3), (2, 3, 4, 4)),
    case("aten.bitwise_and.Tensor", torch.bitwise_and, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.bitwise_or.Tensor", torch.bitwise_or, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.bitwise_xor.Tensor", torch.bitwise_xor, chosen(*X), chosen(2, 1, 4), gradient=False),
    case("aten.masked_fill.Tensor", lambda x, m, v: x.masked_fill(m, v), X, chosen(*X), np.array(0.5, np.float32)),
    case("aten.where.ScalarSelf", lambda m, x: torch.where(m, 0.5, x), chosen(*X), X),
    case("aten.to.device", lambda x, i: i.to(x) * x, X, integers(5, *X)),
    *(
        case(f"aten.{name}.Scalar", lambda x, name=name: getattr(torch.ops.aten, name).Scalar(x, 1.5), X)
        for name in ("add", "sub", "mul", "div")
    ),
    case("aten.rsub.Tensor", lambda x, y: torch.ops.aten.rsub.Tensor(x, y, alpha=0.5), X, X),
    case(
        "aten.div.Scalar_mode",
        lambda x: torch.ops.aten.div.Scalar_mode(x, 0.3, rounding_mode="floor"),
        X,
        gradient=False,
    ),
    case("aten.floor_divide.Scalar", lambda x: torch.ops.aten.floor_divide.Scalar(x, 0.3), X, gradient=False),
    case("aten.fill.Scalar", lambda x: torch.ops.aten.fill.Scalar(x, 0.5) * x, X),
    case("aten.fill.Tensor", lambda x, y: torch.ops.aten.fill.Tensor(x, y) * x, X, ()),
    case("aten.copy.default", copied, X, (3, 1)),
    case("aten._to_copy.default", lambda x: torch.ops.aten._to_copy.default(x, dtype=torch.float16).float(), X),
    case("aten.to.dtype_layout", lambda x: torch.ops.aten.to.dtype_layout(x, dtype=torch.float16).float() * x, X),
    case("aten.to.other", lambda x, i: torch.ops.aten.to.other(i, x) * x, X, integers(5, *X)),
    case("aten.alias.default", lambda x: torch.ops.aten.alias.default(x) * x, X),
]
