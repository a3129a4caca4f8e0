"""What a recipe's strategy says, both engines do: the same state after three steps, in the same names."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from luthier.engines import Arrays, Session, open_session
from luthier.recipe import Recipe, override
from luthier.strategy import label_weights
from luthier.testing import random_batches

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

SHAPE, CLASSES, RATE = (12, 12, 3), 4, 0.05
NETWORK = (
    "model.name=lenet5",
    "model.options={width = [4, 6], kernel = 3, dense = [8], activation = 'tanh', pooling = 'avg'}",
    "model.options.normalisation=batch",
)
GROUPS = "[{match = 'fc1.*', learning_rate = 0.1, weight_decay = 0.5}, {match = 'norm*', learning_rate = 0}]"
DECAY = "strategy.optimizer.weight_decay=0.1"
STRATEGIES = {
    "plain descent": ("strategy.optimizer=sgd", DECAY),
    "decay of normalisations and biases": (DECAY,),
    "decay of neither": (DECAY, "strategy.optimizer.decay_norm_and_bias=false"),
    "decay of neither by adamw": ("strategy.optimizer=adamw", DECAY, "strategy.optimizer.decay_norm_and_bias=false"),
    "groups": (DECAY, f"strategy.optimizer.groups={GROUPS}"),
    "groups by nesterov": ("strategy.optimizer=nesterov", DECAY, f"strategy.optimizer.groups={GROUPS}"),
    "groups by adam": ("strategy.optimizer=adam", DECAY, f"strategy.optimizer.groups={GROUPS}"),
    "muon": ("strategy.optimizer=muon", DECAY),
    "smoothing over all classes": ("strategy.label_smoothing=0.2",),
    "smoothing over the others": ("strategy.label_smoothing=0.2", "strategy.smoothing_over=others"),
    "parts of unequal size": ("strategy.accumulate=3",),
    "fewer parts than asked for": ("strategy.accumulate=5",),
    "clipping": ("strategy.clip_norm=0.05",),
    "averaging": ("strategy.average_decay=0.9",),
}
IN_EAGER_MODE_TOO = ("decay of neither by adamw", "parts of unequal size", "averaging")


def opened(engine: str, *settings: str) -> Session:
    made = override(Recipe(name="same"), [*NETWORK, "device=cpu", f"engine={engine}", *settings])
    return open_session(made, shape=SHAPE, num_classes=CLASSES)


def require_equal(ours: Arrays, theirs: Arrays) -> None:
    """But for the random numbers, which are each engine's own."""
    expected = {name: array for name, array in theirs.items() if not name.startswith("rng/")}
    assert {name for name in ours if not name.startswith("rng/")} == set(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(ours[name], array, rtol=2e-4, atol=2e-5, err_msg=name)


def follow(*settings: str, mixed: bool = False) -> None:
    theirs, ours = opened("torch", *(s for s in settings if not s.startswith("mode"))), opened("mindspore", *settings)
    ours.load(theirs.state())
    for batch in random_batches(3, size=8, shape=SHAPE, num_classes=CLASSES):
        if mixed:
            on, off = label_weights(CLASSES, 0.4, "all")
            rows = np.where(np.eye(CLASSES)[batch.labels] > 0, on, off).astype(np.float32)
            batch = type(batch)(images=batch.images, labels=rows)
        assert float(ours.step(batch, RATE)) == pytest.approx(float(theirs.step(batch, RATE)), rel=1e-4)
    require_equal(ours.state(), theirs.state())
    images = random_batches(1, size=8, shape=SHAPE, num_classes=CLASSES)[0].images
    np.testing.assert_allclose(ours.logits(images), theirs.logits(images), rtol=1e-3, atol=1e-4)
    ours.close()


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_does_the_same_in_a_graph(name: str) -> None:
    follow(*STRATEGIES[name], "mode=graph")


@pytest.mark.parametrize("name", IN_EAGER_MODE_TOO)
def test_and_in_eager_mode(name: str) -> None:
    follow(*STRATEGIES[name], "mode=eager")


def test_mixed_labels_too() -> None:
    follow("mode=graph", mixed=True)


def test_a_session_for_evaluation_builds_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither gradients nor an optimizer with its slots."""
    from mindspore import ops

    def refused(*_: object, **__: object) -> None:
        pytest.fail("a gradient was asked for")

    monkeypatch.setattr(ops, "value_and_grad", refused)
    made = override(Recipe(name="same"), [*NETWORK, "device=cpu", "engine=mindspore", "mode=graph"])
    session = open_session(made, shape=SHAPE, num_classes=CLASSES, training=False)
    (batch,) = random_batches(1, size=8, shape=SHAPE, num_classes=CLASSES)
    assert session.logits(batch.images).shape == (8, CLASSES)
    assert [key for key in session.state() if not key.startswith("model/")] == []
    session.close()


def test_evaluation_between_steps_leaves_the_network_training() -> None:
    """Statistics move in every step and in no evaluation."""
    session = opened("mindspore", "mode=graph")
    first, second = random_batches(2, size=8, shape=SHAPE, num_classes=CLASSES)
    means = []
    for batch in (first, second):
        session.step(batch, RATE)
        means.append(session.state()["model/norm1.running_mean"])
        session.logits(batch.images)
        assert np.array_equal(session.state()["model/norm1.running_mean"], means[-1])
    assert not np.array_equal(means[0], means[1])
    session.close()
