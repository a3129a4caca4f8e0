"""Recurrent layers: gates in another order, two biases, and a parameter for each direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from luthier.port.known import Known

if TYPE_CHECKING:
    from luthier.port.sources.onnx.flat import Node

__all__ = ["GATES", "recurrent"]

GATES: Mapping[str, tuple[int, ...]] = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}  # i o f c, z r h
USUAL: Mapping[str, tuple[str, ...]] = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
    "RNN": ("tanh",),
}


def recurrent(node: Node) -> tuple[dict[str, Known | None], dict[str, Any]] | None:
    """As one of MindSpore's layers, where it does what all of them do and no more."""
    kind, given = node.operator.removeprefix("onnx."), node.arguments
    if given.get("layout"):
        return None
    weights = [given[name] for name in ("W", "R", "B")]
    if any(value is not None and (value.content is None or value.dtype != "float32") for value in weights):
        return None
    if weights[0] is None or given.get("P") is not None or given.get("sequence_lens") is not None or given["clip"]:
        return None
    directions = 2 if given["direction"] == "bidirectional" else 1
    if given["direction"] == "reverse" or given.get("input_forget"):
        return None
    found = tuple(name.lower() for name in given["activations"] or USUAL[kind] * directions)
    relu = kind == "RNN" and found == ("relu",) * directions
    if found != USUAL[kind] * directions and not relu:
        return None
    if kind == "GRU" and not given["linear_before_reset"]:
        return None
    if given.get("activation_alpha") or given.get("activation_beta"):
        return None
    settings = {
        "input_size": weights[0].shape[2],
        "hidden_size": weights[1].shape[2],
        "bidirectional": directions == 2,
        "has_bias": weights[2] is not None,
        "nonlinearity": "relu" if relu else "tanh",
    }
    return _tensors(node.name or kind, kind, weights), settings


def _tensors(name: str, kind: str, weights: list[Known | None]) -> dict[str, Known | None]:
    """By MindSpore's names, which are PyTorch's, too."""
    found: dict[str, Known | None] = {}
    w, r, b = (value.content if value is not None else None for value in weights)
    assert w is not None
    assert r is not None
    for i in range(w.shape[0]):
        end = "_reverse" if i else ""
        found[f"weight_ih_l0{end}"] = _known(f"{name}.weight_ih{end}", turned(w[i], kind))
        found[f"weight_hh_l0{end}"] = _known(f"{name}.weight_hh{end}", turned(r[i], kind))
        if b is not None:
            first, second = np.split(b[i], 2)
            found[f"bias_ih_l0{end}"] = _known(f"{name}.bias_ih{end}", turned(first, kind))
            found[f"bias_hh_l0{end}"] = _known(f"{name}.bias_hh{end}", turned(second, kind))
    return found


def turned(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """The gates in MindSpore's order."""
    parts = np.split(array, len(GATES[kind]), axis=0)
    return np.concatenate([parts[gate] for gate in GATES[kind]])


def _known(name: str, array: NDArray[Any]) -> Known:
    return Known(name=name, shape=tuple(array.shape), dtype="float32", content=array)
