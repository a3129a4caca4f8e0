"""What is said of the shipped networks' sizes holds for each of them."""

from __future__ import annotations

import pytest
import torch

from luthier.recipe import Model
from luthier.zoo import ONE_SIZE, build, names

BUILT_ALIKE = ("resnet", "resnet34", "resnet50", "resnet101", "resnet152")  # as resnet18 is


@pytest.mark.parametrize("name", [name for name in names() if name not in BUILT_ALIKE])
def test_a_network_takes_another_size_unless_it_is_said_to_take_one(name: str) -> None:
    network = build(Model(name=name), shape=(32, 32, 3), num_classes=3).eval()
    larger = torch.zeros(1, 3, 40, 40)
    if name in ONE_SIZE:
        with pytest.raises(RuntimeError):
            network(larger)
    else:
        assert network(larger).shape == (1, 3)
