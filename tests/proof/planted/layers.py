"""Faults in one layer: `entry` and `exit` around it are sound, so that the layer is to be told from its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from mindspore import nn

from luthier.zoo.mindspore.activations import ACTIVATIONS
from tests.proof.planted.building import IMAGE, ROWS, SEQUENCE, Case, Cell, Module, small
from tests.proof.planted.fault import Fault, between, chain
from tests.proof.planted.images import IMAGES
from tests.proof.planted.rows import SEQUENCES, VECTORS

__all__ = ["LAYER_FAULTS", "LAYER_SOUND"]


def around(case: Case, layer: Callable[[], Any], module: Any) -> dict[str, Callable[[], Any]]:
    """The layer between two others."""
    shape = case[2]
    if module is torch:
        first: Callable[[], Any] = {
            IMAGE: lambda: torch.nn.Conv2d(4, 4, 1),
            "3,4,10,10": lambda: torch.nn.Conv2d(4, 4, 1),
            ROWS: lambda: torch.nn.Linear(12, 12),
            SEQUENCE: lambda: torch.nn.Linear(8, 8),
        }[shape]
        second: Callable[[], Any] = torch.nn.Tanh
    else:
        first = {
            IMAGE: lambda: nn.Conv2d(4, 4, 1, has_bias=True),
            "3,4,10,10": lambda: nn.Conv2d(4, 4, 1, has_bias=True),
            ROWS: lambda: nn.Dense(12, 12),
            SEQUENCE: lambda: nn.Dense(8, 8),
        }[shape]
        second = ACTIVATIONS["tanh"]
    scaled = (
        (Module(small) if module is torch else Cell(small)) if "epsilon" in case[0] or "LayerNorm" in case[0] else None
    )
    middle = {"small": lambda: scaled} if scaled is not None else {}
    return {"entry": first, **middle, "layer": layer, "exit": second}


CASES = [*IMAGES, *VECTORS, *SEQUENCES]
LAYER_FAULTS = [
    Fault(
        name=case[0],
        row=case[1],
        reference=chain(around(case, case[3], torch)),
        candidate=between(around(case, case[5], nn)),
        inputs=[case[2]],
        rung=case[7],
        layer="layer.cell" if "batch for the time" in case[0] else "layer",
        trap=case[6],
    )
    for case in CASES
]
LAYER_SOUND = [
    (case[0], chain(around(case, case[3], torch)), between(around(case, case[4], nn)), case[2])
    for case in CASES
    if "own" not in case[0] and "reflects" not in case[0]
]
