"""From a record of the recipe to what does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from luthier.data.transforms.color import Jittering
from luthier.data.transforms.crop import CenterCropping, RandomCropping
from luthier.data.transforms.cutout import CuttingOut
from luthier.data.transforms.flip import RandomFlipping
from luthier.data.transforms.operation import Operation
from luthier.data.transforms.resize import RandomResizedCropping, Resizing
from luthier.recipe import (
    CenterCrop,
    ColorJitter,
    Cutout,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Transform,
)

__all__ = ["operation"]

OPERATIONS: dict[type[Transform], Callable[[Any], Operation]] = {
    CenterCrop: CenterCropping,
    ColorJitter: Jittering,
    Cutout: CuttingOut,
    RandomCrop: RandomCropping,
    RandomFlip: RandomFlipping,
    RandomResizedCrop: RandomResizedCropping,
    Resize: Resizing,
}


def operation(record: Transform) -> Operation:
    """The transform that a record names."""
    return OPERATIONS[type(record)](record)
