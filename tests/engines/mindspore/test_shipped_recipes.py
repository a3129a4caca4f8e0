"""Every shipped recipe means the same on MindSpore: its network, initialisers, labels, decay and rates."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from luthier.engines import open_session
from luthier.recipe import load, shipped
from luthier.strategy import learning_rates
from luthier.testing import random_batches

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

GREY = ("lenet5-digits", "lenet5-mnist")


@pytest.mark.parametrize("name", shipped())
def test_a_recipe_s_first_losses_are_pytorch_s(name: str) -> None:
    """The second step's loss is that of weights which the recipe's optimizer has moved."""
    shape = (32, 32, 1 if name in GREY else 3)
    losses = []
    for engine in ("torch", "mindspore"):
        recipe = load(name, [f"engine={engine}", "device=cpu", "mode=eager", "strategy.epochs=6"])
        session = open_session(recipe, shape=shape, num_classes=10)
        rates = learning_rates(recipe.strategy, 100)
        batches = random_batches(2, size=4, shape=shape)
        losses.append([float(session.step(batch, rates[0] / 10)) for batch in batches])
        session.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=2e-3 if name.startswith("resnet") else 1e-5)
