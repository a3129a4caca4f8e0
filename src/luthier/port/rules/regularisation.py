"""Dropout: what PyTorch calls p is the share that goes."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports

__all__: list[str] = []


@ports("torch.nn.Dropout")
def dropout_layer(call: Call) -> Emit:
    """MindSpore's first positional argument is the share that stays: p is named, always."""
    return Emit("nn.Dropout", p=float(call["p"]))


@ports("torch.nn.Dropout2d")
def dropout_2d(call: Call) -> Emit:
    """Whole channels."""
    return Emit("nn.Dropout2d", p=float(call["p"]))


@ports("torch.nn.Dropout3d")
def dropout_3d(call: Call) -> Emit:
    """Whole channels."""
    return Emit("nn.Dropout3d", p=float(call["p"]))


@ports("aten.dropout.default", "aten.feature_dropout.default")
def dropout(call: Call) -> Emit:
    """What it does in training is not in the graph of evaluation: only a layer carries it over."""
    if call["p"] == 0:
        return Emit("same", call["input"])
    layer = "torch.nn.Dropout2d" if "feature" in call.operator else "torch.nn.Dropout"
    raise Unsupported(
        f"{call.operator} as a function does not tell whether it follows the module's training",
        at=call.at,
        hint=f"Make it a layer: self.drop = {layer}({call['p']}).",
    )
