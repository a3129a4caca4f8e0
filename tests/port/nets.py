"""Networks whose ports stand under tests/golden."""

from __future__ import annotations

from torch import nn

from luthier.recipe import Model
from luthier.zoo import build


def lenet5() -> nn.Module:
    return build(Model(name="lenet5"), shape=(32, 32, 3), num_classes=10)


def resnet50() -> nn.Module:
    return build(Model(name="resnet50"), shape=(224, 224, 3), num_classes=1000)
