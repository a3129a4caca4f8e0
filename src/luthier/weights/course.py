"""The names that the course's MindSpore networks give, in torchvision's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

__all__ = ["from_course", "without_optimizer"]

Value = TypeVar("Value")

SEGMENTS: Mapping[str, str] = {"down_sample_layer": "downsample", "end_point": "fc"}
IN_A_BLOCK: Mapping[str, str] = {"bn1d": "bn1", "bn2d": "bn2", "e2.0": "conv2", "e2.1": "bn2"}
BLOCK = re.compile(r"((?:^|\.)layer\d+\.\d+\.)(bn1d|bn2d|e2\.0|e2\.1)(?=\.)")
SLOTS = ("accum.", "moment1.", "moment2.", "moments.", "momentum.", "stat.")
SCALARS = (
    "beta1_power",
    "beta2_power",
    "current_iterator_step",
    "epoch_num",
    "global_step",
    "last_overflow_iterator_step",
    "learning_rate",
    "loss_scale",
    "momentum",
    "scale_sense",
    "step_num",
)


def from_course(arrays: Mapping[str, Value]) -> dict[str, Value]:
    """`end_point` is `fc` and `down_sample_layer` is `downsample`; the migration guide's blocks have further names."""
    return {_renamed(name): value for name, value in arrays.items()}


def _renamed(name: str) -> str:
    """`bn2d` is a part of MindSpore's BatchNorm3d too, but not directly in a block."""
    name = BLOCK.sub(lambda found: found[1] + IN_A_BLOCK[found[2]], name)
    return ".".join(SEGMENTS.get(part, part) for part in name.split("."))


def without_optimizer(arrays: Mapping[str, Value]) -> dict[str, Value]:
    """The network's part of a checkpoint that MindSpore's training callback wrote, moments and counters beside it."""
    return {name: value for name, value in arrays.items() if not name.startswith(SLOTS) and name not in SCALARS}
