"""Faults in a layer on rows and on sequences."""

from __future__ import annotations

import torch
from mindspore import nn, ops
from torch.nn import functional

from tests.proof.planted.building import (
    EVALUATION,
    ROWS,
    SEQUENCE,
    WEIGHT,
    Case,
    Cell,
    Lstm,
    Module,
    MsLstm,
    Reordered,
    Turned,
    attention,
    norm,
)

__all__ = ["SEQUENCES", "VECTORS"]

VECTORS: list[Case] = [
    (
        "a LayerNorm left at 1e-7",
        "6.2",
        ROWS,
        norm(torch.nn.LayerNorm, 12),
        lambda: nn.LayerNorm((12,), epsilon=1e-5),
        lambda: nn.LayerNorm((12,)),
        "epsilon",
        EVALUATION,
    ),
    (
        "GELU by tanh",
        "6.2",
        ROWS,
        lambda: torch.nn.GELU(),
        lambda: nn.GELU(approximate=False),
        lambda: nn.GELU(),
        "gelu-form",
        EVALUATION,
    ),
    (
        "exact GELU where the reference approximates",
        "6.2",
        ROWS,
        lambda: torch.nn.GELU(approximate="tanh"),
        lambda: nn.GELU(),
        lambda: nn.GELU(approximate=False),
        "gelu-form",
        EVALUATION,
    ),
    (
        "ReLU6 for ReLU",
        "6.2",
        ROWS,
        lambda: Module(lambda x: functional.relu(8 * x)),
        lambda: Cell(lambda x: ops.relu(8 * x)),
        lambda: Cell(lambda x: ops.relu6(8 * x)),
        "activation",
        EVALUATION,
    ),
    (
        "a dense layer by its transposed weight",
        "6.2",
        ROWS,
        lambda: torch.nn.Linear(12, 12, bias=False),
        lambda: nn.Dense(12, 12, has_bias=False),
        lambda: Turned(),
        "weight-layout",
        EVALUATION,
    ),
]

SEQUENCES: list[Case] = [
    (
        "an LSTM with ONNX's order of gates",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: Reordered((0, 2, 3, 1)),
        "gate-order",
        EVALUATION,
    ),
    (
        "an LSTM with Keras' order of gates",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: Reordered((0, 1, 3, 2)),
        "gate-order",
        EVALUATION,
    ),
    (
        "an LSTM that takes the batch for the time",
        "6.5",
        SEQUENCE,
        Lstm,
        MsLstm,
        lambda: MsLstm(batch_first=False),
        "batch-first",
        EVALUATION,
    ),
    (
        "attention without its scale",
        "6.2",
        SEQUENCE,
        attention(False, WEIGHT, torch),
        attention(False, WEIGHT, nn),
        attention(False, 1.0, nn),
        "attention-scale",
        EVALUATION,
    ),
    (
        "attention without its mask",
        "6.2",
        SEQUENCE,
        attention(True, WEIGHT, torch),
        attention(True, WEIGHT, nn),
        attention(False, WEIGHT, nn),
        "attention-mask",
        EVALUATION,
    ),
]
