"""A user's own Cell that draws by functions of `ops`: from the same state the same numbers, in both modes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.engines import Session, open_session
from luthier.recipe import Recipe, load, override
from luthier.testing import random_batches
from luthier.training import resume, train
from tests.training.leftovers import same_end

if find_spec("mindspore") is None:
    pytest.skip("MindSpore is not installed", allow_module_level=True)

import mindspore
from mindspore import Tensor, ops

from luthier.engines.mindspore.draws import Draws

MODES = ("graph", "eager")
NETS = """
import mindspore
from mindspore import Tensor, nn, ops
from mindspore.ops import dropout as drop

class Net(nn.Cell):
    def __init__(self, num_classes, shape):
        super().__init__()
        self.conv = nn.Conv2d(shape[2], 6, 3, stride=2, has_bias=True)
        self.head = nn.Dense(6 * (shape[0] // 2) * (shape[1] // 2), num_classes)

    def construct(self, x):
        x = ops.dropout2d(self.conv(x), 0.1, self.training)
        x = ops.relu(x).flatten(start_dim=1)
        one = (x.shape[0], 1)
        if self.training:
            x = x * ops.bernoulli(ops.ones(one, mindspore.float32), 0.9)
            x = x * ops.uniform(one, Tensor(0.9, mindspore.float32), Tensor(1.1, mindspore.float32), seed=4)
            x = x + 0.01 * (ops.randn(x.shape[0], 1) + ops.rand(one) + ops.normal(one, 0.0, 1.0))
            x = x + 0.01 * (ops.randn_like(x) + ops.rand_like(x) + ops.standard_normal(one))
        return self.head(drop(x, p=0.2))

class Hidden(Net):
    def __init__(self, num_classes, shape):
        super().__init__(num_classes, shape)
        self.draw = ops.StandardNormal()

    def construct(self, x):
        return super().construct(x) * self.draw((1, 1))
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NETS)
    return path


def opened(own: Path, name: str, *settings: str) -> Session:
    made = override(Recipe(name="own"), ["engine=mindspore", "device=cpu", f"model.name={own}:{name}", *settings])
    return open_session(made, shape=(8, 8, 3), num_classes=10)


@pytest.mark.parametrize("mode", MODES)
def test_the_same_state_draws_the_same_numbers(own: Path, mode: str) -> None:
    session = opened(own, "Net", f"mode={mode}")
    first, *rest = random_batches(3, size=32, shape=(8, 8, 3))
    session.step(first, 0.01)
    state = session.state()
    assert np.array_equal(session.logits(first.images), session.logits(first.images))
    losses = [float(session.step(batch, 0.01)) for batch in rest]
    again = opened(own, "Net", f"mode={mode}", "strategy.seed=9")
    again.load(state)
    assert [float(again.step(batch, 0.01)) for batch in rest] == losses
    ours, theirs = session.state(), again.state()
    assert [key for key in ours if ours[key].tobytes() != theirs[key].tobytes()] == []
    assert not any("draws" in note for note in session.notes)
    session.close()


@pytest.mark.slow
def test_both_modes_draw_the_same_numbers(own: Path) -> None:
    (batch,) = random_batches(1, size=32, shape=(8, 8, 3))
    graph, eager = (float(opened(own, "Net", f"mode={mode}").step(batch, 0.01)) for mode in MODES)
    assert graph == pytest.approx(eager, rel=1e-5)


@pytest.mark.parametrize("mode", [pytest.param("graph", marks=pytest.mark.slow), "eager"])
def test_a_run_goes_on_to_the_same_bits(own: Path, mode: str, tmp_path: Path) -> None:
    settings = [f"model.name={own}:Net", "engine=mindspore", f"mode={mode}", "model.options={}", "strategy.steps=8"]
    recipe = load("lenet5-digits", [*settings, "record.images=0", "record.histograms=false"])
    straight = train(recipe, out=tmp_path / "straight")

    def halt(event: Any) -> None:
        if getattr(event, "step", 0) == 3:
            event.training.stop("enough", status="interrupted")

    assert same_end(straight, resume(train(recipe, out=tmp_path / "halted", listeners=[halt])))


@pytest.mark.parametrize("mode", MODES)
def test_what_cannot_be_put_back_is_said_before_the_run(own: Path, mode: str) -> None:
    session = opened(own, "Hidden", f"mode={mode}")
    assert "net.py:Hidden draws random numbers that MindSpore keeps to itself" in session.notes[-1]
    session.close()


class TestFunctions:
    """Each gives what its name says."""

    @pytest.fixture(autouse=True)
    def eager(self) -> Any:
        before = mindspore.get_context("mode")
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        with Draws(1).in_place(kept=False):
            yield
        mindspore.set_context(mode=before)

    def test_dropout_keeps_the_mean(self) -> None:
        x = Tensor(np.ones((100, 40, 5), np.float32))
        found = ops.dropout(x, 0.25).asnumpy()
        assert np.unique(found).tolist() == pytest.approx([0, 4 / 3])
        assert found.mean() == pytest.approx(1, abs=0.02)
        channels = ops.dropout1d(x, 0.25).asnumpy()
        assert (channels.min(axis=2) == channels.max(axis=2)).all()
        assert channels.mean() == pytest.approx(1, abs=0.05)
        assert ops.dropout(x, 0.25, False) is x
        assert not ops.dropout(x, 1.0).asnumpy().any()

    def test_an_array_without_images_loses_whole_channels_too(self) -> None:
        found = ops.dropout2d(Tensor(np.ones((64, 3, 3), np.float32)), 0.5).asnumpy()
        assert (found.min(axis=(1, 2)) == found.max(axis=(1, 2))).all()
        assert set(np.unique(found)) == {0.0, 2.0}

    def test_fractions_are_uniform(self) -> None:
        for found in (ops.rand(10_000), ops.rand((100, 100)), ops.rand_like(Tensor(np.ones(10_000, np.float32)))):
            values = found.asnumpy()
            assert (values.min() >= 0, values.max() < 1) == (True, True)
            np.testing.assert_allclose(np.histogram(values, 10, (0, 1))[0], 1000, atol=150)
        between = ops.uniform((10_000,), Tensor(-3.0), Tensor(5.0)).asnumpy()
        assert between.mean() == pytest.approx(1, abs=0.1)
        whole = ops.uniform((1000,), Tensor(2), Tensor(5), dtype=mindspore.int32).asnumpy()
        assert set(whole.tolist()) == {2, 3, 4}
        ones = ops.bernoulli(Tensor(np.ones(10_000, np.float32)), 0.3).asnumpy()
        assert ones.mean() == pytest.approx(0.3, abs=0.02)

    def test_normals_are_normal(self) -> None:
        for found in (ops.randn(20_000), ops.standard_normal((20_000,)), ops.normal((20_000,), 2.0, 3.0)):
            values = found.asnumpy()
            standard = (values - 2) / 3 if values.std() > 2 else values
            assert standard.mean() == pytest.approx(0, abs=0.03)
            assert standard.std() == pytest.approx(1, abs=0.03)
            assert (np.abs(standard) < 1).mean() == pytest.approx(0.6827, abs=0.015)

    def test_no_two_calls_draw_the_same(self) -> None:
        assert not np.array_equal(ops.rand(8).asnumpy(), ops.rand(8).asnumpy())
        assert not np.array_equal(ops.rand(8, seed=1).asnumpy(), ops.rand(8, seed=2).asnumpy())


def test_mindspore_has_its_own_functions_back() -> None:
    before = ops.dropout
    with Draws(1).in_place(kept=False):
        assert ops.dropout is not before
    assert ops.dropout is before
