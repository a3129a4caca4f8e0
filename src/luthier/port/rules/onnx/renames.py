"""ONNX's operators that MindSpore has under another name, with the same arguments. A table of data."""

from __future__ import annotations

from collections.abc import Mapping

from luthier.port.emit import Call, Emit
from luthier.port.registry import Rule, ports

__all__ = ["LAYERS", "RENAMES"]

RENAMES: Mapping[str, tuple[str, ...]] = {
    "Abs": ("ops.abs", "X"),
    "Acos": ("ops.acos", "input"),
    "Acosh": ("ops.acosh", "input"),
    "Asin": ("ops.asin", "input"),
    "Asinh": ("ops.asinh", "input"),
    "Atan": ("ops.atan", "input"),
    "Atanh": ("ops.atanh", "input"),
    "Ceil": ("ops.ceil", "X"),
    "Cos": ("ops.cos", "input"),
    "Cosh": ("ops.cosh", "input"),
    "Det": ("ops.det", "X"),
    "Erf": ("ops.erf", "input"),
    "Exp": ("ops.exp", "input"),
    "Floor": ("ops.floor", "X"),
    "HardSwish": ("ops.hardswish", "X"),
    "IsNaN": ("ops.isnan", "X"),
    "Log": ("ops.log", "input"),
    "Mish": ("ops.mish", "X"),
    "Not": ("ops.logical_not", "X"),
    "Reciprocal": ("ops.reciprocal", "X"),
    "Relu": ("ops.relu", "X"),
    "Relu6": ("ops.relu6", "X"),
    "Round": ("ops.round", "X"),
    "Sigmoid": ("ops.sigmoid", "X"),
    "Sign": ("ops.sign", "input"),
    "Silu": ("ops.silu", "X"),
    "Sin": ("ops.sin", "input"),
    "Sinh": ("ops.sinh", "input"),
    "Softplus": ("ops.softplus", "X"),
    "Softsign": ("ops.softsign", "input"),
    "Sqrt": ("ops.sqrt", "X"),
    "Tan": ("ops.tan", "input"),
}

LAYERS: Mapping[str, str] = {
    "HardSwish": "nn.HSwish",
    "Mish": "nn.Mish",
    "Relu": "nn.ReLU",
    "Relu6": "nn.ReLU6",
    "Sigmoid": "nn.Sigmoid",
    "Silu": "nn.SiLU",
    "Softsign": "nn.Softsign",
}


def renaming(target: str, *names: str) -> Rule:
    """The rule of one row."""

    def renamed(call: Call) -> Emit:
        """The same function under another name."""
        return Emit(target, *(call[name] for name in names))

    return renamed


for _operator, (_target, *_names) in RENAMES.items():
    ports(f"onnx.{_operator}")(renaming(_target, *_names))
for _operator, _layer in LAYERS.items():
    ports(f"onnx.nn.{_operator}")(renaming(_layer))
