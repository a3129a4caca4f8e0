"""float16 on MindSpore: its numbers are not float32's, and its loss scale follows the same rule as PyTorch's."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from luthier.compress import open_network
from luthier.engines import Session, open_session
from luthier.recipe import Recipe, override
from luthier.testing import random_batches

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

MODES = ("graph", "eager")


def made(*settings: str) -> Recipe:
    return override(Recipe(name="half"), ["device=cpu", *settings])


def opened(*settings: str) -> Session:
    return open_session(made(*settings), shape=(32, 32, 3), num_classes=10)


def half(engine: str, mode: str, *settings: str) -> Session:
    return opened(f"engine={engine}", f"mode={mode}", "strategy.precision=float16", *settings)


def scaled_to(session: Session, scale: float) -> Session:
    state = session.state()
    state["optimizer/loss_scale"][:] = [scale, 0]
    session.load(state)
    return session


def scale_of(session: Session) -> list[float]:
    found: list[float] = session.state()["optimizer/loss_scale"].tolist()
    return found


@pytest.mark.parametrize("mode", MODES)
def test_the_losses_are_pytorch_s_within_float16_s_grain_and_not_float32_s(mode: str) -> None:
    settings = ("strategy.loss_scale=1024",)
    ours, theirs = half("mindspore", mode, *settings), half("torch", "eager", *settings)
    exact = opened("engine=torch")
    losses = np.array([[float(s.step(b, 0.01)) for s in (ours, theirs, exact)] for b in random_batches(5)])
    np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=2e-3)
    assert np.abs(losses[:, 0] - losses[:, 2]).max() > 1e-6
    assert all(array.dtype != np.float16 for array in ours.state().values())


@pytest.mark.parametrize("mode", MODES)
class TestADynamicLossScale:
    def test_a_step_that_overflowed_changes_no_weight_and_halves_the_scale(self, mode: str) -> None:
        session = scaled_to(half("mindspore", mode, "strategy.loss_scale=dynamic", "strategy.optimizer=adam"), 2.0**40)
        before, (batch,) = session.state(), random_batches(1)
        session.step(batch, 0.01)
        after = session.state()
        assert scale_of(session) == [2.0**39, 0]
        assert after["optimizer/step/fc1.weight"] == 0
        kept = [key for key in before if key.startswith(("model/", "optimizer/moment"))]
        assert all(np.array_equal(before[key], after[key]) for key in kept)

    def test_it_comes_down_to_where_steps_count_again_and_goes_on_from_a_state(self, mode: str) -> None:
        settings = ("strategy.loss_scale=dynamic", "strategy.average_decay=0.9")
        session = scaled_to(half("mindspore", mode, *settings), 2.0**26)
        batches = random_batches(14)
        for batch in batches[:12]:
            session.step(batch, 0.01)
        scale, good = scale_of(session)
        assert 2.0**10 < scale < 2.0**22
        assert good > 0
        again = half("mindspore", mode, *settings, "strategy.seed=9")
        again.load(session.state())
        for batch in batches[12:]:
            assert float(session.step(batch, 0.01)) == float(again.step(batch, 0.01))
        one, other = session.state(), again.state()
        assert all(np.array_equal(one[key], other[key]) for key in one)

    def test_it_starts_where_pytorch_s_does_and_crosses_to_it(self, mode: str) -> None:
        ours = half("mindspore", mode, "strategy.loss_scale=dynamic")
        theirs = half("torch", "eager", "strategy.loss_scale=dynamic")
        assert scale_of(ours) == scale_of(theirs) == [65_536, 0]
        (batch,) = random_batches(1)
        ours.step(batch, 0.01)
        assert scale_of(ours) == [65_536, 1]


def test_two_sessions_of_different_modes_stand_beside_each_other() -> None:
    """A gradient is of the mode that it was made in: it once kept the loss scale of the step before."""
    graph = half("mindspore", "graph", "strategy.loss_scale=dynamic")
    (batch,) = random_batches(1)
    graph.step(batch, 0.01)
    eager = scaled_to(half("mindspore", "eager", "strategy.loss_scale=dynamic"), 2.0**20)
    for _ in range(6):
        eager.step(batch, 0.01)
        graph.step(batch, 0.01)
    assert scale_of(eager)[1] > 0
    assert scale_of(graph)[1] > 0


def test_what_is_exported_from_a_float16_recipe_is_in_float32() -> None:
    (batch,) = random_batches(1)
    recipe = made("engine=mindspore", "mode=eager", "strategy.precision=float16", "strategy.loss_scale=64")
    plain = override(recipe, ["strategy.precision=float32", "strategy.loss_scale=1.0"])
    with open_network(recipe) as network, open_network(plain) as same:
        exact = same.session.logits(batch.images)
        assert np.array_equal(network.on("mindspore").logits(batch.images), exact)
        assert not np.array_equal(network.session.logits(batch.images), exact)
