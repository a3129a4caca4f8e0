"""The traps of a port, each a small named rule over observed facts with a hint."""

from luthier.proof.traps.data import data_causes
from luthier.proof.traps.layers import Facts, layer_causes
from luthier.proof.traps.optimizers import optimizer_causes, schedule_causes
from luthier.proof.traps.registry import TRAPS, Trap
from luthier.proof.traps.structure import structure_causes, weight_causes
from luthier.proof.traps.training import gradient_causes, loss_causes

__all__ = [
    "TRAPS",
    "Facts",
    "Trap",
    "data_causes",
    "gradient_causes",
    "layer_causes",
    "loss_causes",
    "optimizer_causes",
    "schedule_causes",
    "structure_causes",
    "weight_causes",
]
