"""What every engine's session must do."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from luthier.data import Batch
from luthier.engines import Arrays, NonFinite, Session, open_session
from luthier.errors import CheckpointError, EngineError, RecipeError
from luthier.recipe import Recipe, override
from luthier.testing.batches import random_batches

__all__ = ["SessionContract"]

OPTIMIZERS = ("sgd", "momentum", "nesterov", "adam", "adamw")
SHAPE, CLASSES = (32, 32, 3), 10


def equal(one: Arrays, other: Arrays) -> bool:
    """The same names, the same bits."""
    return one.keys() == other.keys() and all(one[key].tobytes() == other[key].tobytes() for key in one)


def log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row by row."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    found: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return found


class SessionContract:
    """Derive, and set `engine`; `settings` are overrides that hold in every test."""

    engine: str
    settings: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = OPTIMIZERS

    def recipe(self, *overrides: str) -> Recipe:
        """LeNet-5, changed as a test needs it."""
        return override(Recipe(name="contract"), [f"engine={self.engine}", *self.settings, *overrides])

    def open(self, *overrides: str, training: bool = True) -> Session:
        """A session on 32×32 pixels in colour, ten classes."""
        recipe = self.recipe(*overrides)
        return open_session(recipe, shape=SHAPE, num_classes=CLASSES, training=training)

    def test_the_same_seed_gives_the_same_weights(self) -> None:
        """And another seed gives others."""
        assert equal(self.open().state(), self.open().state())
        assert not equal(self.open().state(), self.open("strategy.seed=2").state())

    def test_names_and_shapes_are_the_networks_own(self) -> None:
        """In the network's order."""
        infos = self.open().parameters
        assert [info.name for info in infos] == [
            *("conv1.weight", "conv2.weight", "fc1.weight", "fc1.bias"),
            *("fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias"),
        ]
        assert sum(int(np.prod(info.shape)) for info in infos) == 61_984
        assert {info.name: info.kind for info in infos}["fc1.bias"] == "bias"

    def test_a_step_lowers_the_loss_on_its_own_batch(self) -> None:
        """Twenty of them, at a modest rate."""
        session, (batch,) = self.open(), random_batches(1)
        losses = [float(session.step(batch, 0.02)) for _ in range(20)]
        assert losses[-1] < losses[0]

    def test_a_rate_of_zero_changes_no_weight(self) -> None:
        """The optimizer's own state may change."""
        session, (batch,) = self.open(), random_batches(1)
        before = session.state()
        session.step(batch, 0.0)
        after = session.state()
        models = [key for key in before if key.startswith("model/")]
        assert all(np.array_equal(before[key], after[key]) for key in models)

    def test_every_optimizer_goes_on_from_its_state_to_the_same_bits(self) -> None:
        """Dropout, averaging and BatchNorm included: everything that has a state."""
        for optimizer in self.optimizers:
            settings = [
                f"strategy.optimizer={optimizer}",
                "strategy.optimizer.weight_decay=0.01",
                "strategy.average_decay=0.9",
                "model.options={dropout = 0.1, normalisation = 'batch'}",
            ]
            straight, batches = self.open(*settings), random_batches(6)
            for batch in batches[:3]:
                straight.step(batch, 0.01)
            state = straight.state()
            for batch in batches[3:]:
                straight.step(batch, 0.01)
            again = self.open(*settings, "strategy.seed=7")
            again.load(state)
            assert equal(again.state(), state), optimizer
            for batch in batches[3:]:
                again.step(batch, 0.01)
            assert equal(straight.state(), again.state()), optimizer
            assert np.array_equal(straight.logits(batches[0].images), again.logits(batches[0].images)), optimizer

    def test_a_state_is_a_copy(self) -> None:
        """Later steps do not reach into it."""
        session, (batch,) = self.open(), random_batches(1)
        state = session.state()
        kept = {key: array.copy() for key, array in state.items()}
        session.step(batch, 0.1)
        assert equal(state, kept)

    def test_a_state_taken_before_the_first_step_undoes_all_steps(self) -> None:
        """What a learning-rate range test relies on."""
        session, batches = self.open("strategy.optimizer=adam"), random_batches(3)
        before = session.state()
        for batch in batches:
            session.step(batch, 0.1)
        session.load(before)
        assert equal(session.state(), before)

    def test_a_state_loaded_between_steps_gives_the_same_step_again(self) -> None:
        """Moments and averages included, in a session that has stepped before."""
        session, batches = self.open("strategy.optimizer=adam", "strategy.average_decay=0.9"), random_batches(3)
        session.step(batches[0], 0.01)
        state = session.state()
        session.step(batches[1], 0.01)
        once = session.state()
        session.step(batches[2], 0.01)
        session.load(state)
        session.step(batches[1], 0.01)
        assert equal(session.state(), once)

    def test_pythons_and_numpys_random_numbers_are_part_of_a_state(self) -> None:
        """A user's network, data or listener may draw from them; a normal number left over is theirs too."""
        session = self.open()
        first = random.random(), np.random.random()
        self.open()
        assert (random.random(), np.random.random()) == first
        random.gauss(0, 1), np.random.normal()
        state = session.state()
        drawn = random.gauss(0, 1), np.random.normal(), random.random(), np.random.random()
        assert drawn[0] != drawn[1]
        session.load(state)
        assert (random.gauss(0, 1), np.random.normal(), random.random(), np.random.random()) == drawn
        session.load({key: array for key, array in state.items() if key not in ("rng/python", "rng/numpy")})

    def test_a_session_for_evaluation_leaves_random_numbers_as_they_were(self) -> None:
        """A listener may evaluate in the middle of a training."""
        random.seed(7)
        np.random.seed(7)
        expected = random.Random(7).random(), np.random.RandomState(7).random_sample()
        self.open(training=False)
        assert (random.random(), np.random.random()) == expected

    def test_evaluation_changes_nothing(self) -> None:
        """BatchNorm's statistics and the random numbers least of all."""
        session = self.open("model.options={dropout = 0.5, normalisation = 'batch'}")
        (batch,) = random_batches(1)
        session.step(batch, 0.01)
        before = session.state()
        first = session.logits(batch.images)
        assert np.array_equal(first, session.logits(batch.images))
        assert equal(session.state(), before)

    def test_logits_do_not_depend_on_the_batch_they_came_in(self) -> None:
        """Up to the order of a sum."""
        session, (batch,) = self.open(), random_batches(1)
        whole = session.logits(batch.images)
        single = np.concatenate([session.logits(batch.images[k : k + 1]) for k in range(len(batch.images))])
        np.testing.assert_allclose(whole, single, atol=1e-5)

    def test_accumulating_two_halves_is_one_step_of_the_whole(self) -> None:
        """For a network without BatchNorm."""
        (batch,) = random_batches(1)
        whole, halves = self.open(), self.open("strategy.accumulate=2")
        first, second = float(whole.step(batch, 0.1)), float(halves.step(batch, 0.1))
        assert first == pytest.approx(second, abs=1e-6)
        one, other = whole.state(), halves.state()
        for key in one:
            if key.startswith("model/"):
                np.testing.assert_allclose(one[key], other[key], atol=1e-6)

    def test_clipping_bounds_the_step(self) -> None:
        """With plain SGD the change of all weights together is the rate times the norm."""
        session, (batch,) = self.open("strategy.optimizer=sgd", "strategy.clip_norm=0.01"), random_batches(1)
        before = session.state()
        session.step(batch, 1.0)
        after = session.state()
        models = [key for key in before if key.startswith("model/")]
        moved = np.sqrt(sum(float(((after[key] - before[key]) ** 2).sum()) for key in models))
        assert moved == pytest.approx(0.01, rel=1e-3)

    def test_groups_of_parameters_are_checked_on_one_process_too(self) -> None:
        """The same recipe is for several."""
        self.open("strategy.allreduce_split=[1, 7]")
        with pytest.raises(RecipeError, match="Expected positions below 8"):
            self.open("strategy.allreduce_split=[1, 8]")

    def test_mixed_labels_weigh_the_loss(self) -> None:
        """A row with all its weight on one class is that class."""
        (batch,) = random_batches(1)
        rows = np.eye(CLASSES, dtype=np.float32)[batch.labels]
        plain, mixed = self.open("strategy.label_smoothing=0.1"), self.open("strategy.label_smoothing=0.1")
        first = float(plain.step(batch, 0.1))
        assert first == pytest.approx(float(mixed.step(Batch(images=batch.images, labels=rows), 0.1)), abs=1e-6)

    def test_a_teachers_answers_have_their_share_of_the_loss(self) -> None:
        """The divergence from them at the temperature, times its square; accumulated as the rest is."""
        (batch,) = random_batches(1)
        given = np.random.default_rng(3).normal(0, 3, (len(batch), CLASSES)).astype(np.float32)
        taught = Batch(images=batch.images, labels=batch.labels, teacher=given)
        settings = ["strategy.teacher=run", "strategy.teacher_weight=0.3", "strategy.teacher_temperature=2"]
        logits = self.open(training=False).logits(batch.images).astype(np.float64)
        own, other = log_softmax(logits / 2), log_softmax(given.astype(np.float64) / 2)
        apart = float((np.exp(other) * (other - own)).sum(1).mean()) * 2**2
        labels = -float(log_softmax(logits)[np.arange(len(batch)), batch.labels].mean())
        for further in ("strategy.accumulate=1", "strategy.accumulate=2"):
            loss = float(self.open(*settings, further).step(taught, 0.1))
            assert loss == pytest.approx(0.7 * labels + 0.3 * apart, rel=1e-5), further

    def test_a_loss_that_is_not_finite_changes_no_weight_and_names_a_gradient(self) -> None:
        """A network that was driven to infinity on purpose."""
        session, (batch,) = self.open(), random_batches(1)
        state = session.state()
        state["model/fc3.bias"][:] = np.inf
        session.load(state)
        with pytest.raises(NonFinite) as caught:
            session.step(batch, 0.01)
        assert caught.value.parameter == "conv1.weight"
        assert equal(session.state(), state)

    def test_another_networks_state_is_refused_by_name(self) -> None:
        """And nothing of it is taken."""
        session = self.open()
        before = session.state()
        wider = self.open("model.options={width = 2}").state()
        with pytest.raises(CheckpointError, match=r"conv1\.weight"):
            session.load(wider)
        foreign = {key.replace("conv1", "conv_1"): array for key, array in before.items()}
        with pytest.raises(CheckpointError, match=r"conv_1\.weight"):
            session.load(foreign)
        assert equal(session.state(), before)

    def test_a_session_for_evaluation_cannot_step(self) -> None:
        """It has no optimizer, and says so."""
        session, (batch,) = self.open(training=False), random_batches(1)
        assert session.logits(batch.images).shape == (8, CLASSES)
        with pytest.raises(EngineError, match="cannot step"):
            session.step(batch, 0.1)

    def test_a_probe_tells_what_a_step_left(self) -> None:
        """Weights and gradients at once, an activation from the step after it was asked for."""
        session, batches = self.open(), random_batches(2)
        session.step(batches[0], 0.01)
        names = ["weight/conv1.weight", "gradient/fc3.bias", "activation/conv1"]
        assert set(session.probe(names)) == set(names[:2])
        session.step(batches[1], 0.01)
        told = session.probe(names)
        assert told["weight/conv1.weight"].count == 450
        assert told["gradient/fc3.bias"].abs_mean > 0
        assert told["activation/conv1"].count == 8 * 6 * 28 * 28
        with pytest.raises(EngineError, match=r"weight/conv1\.weight"):
            session.probe(["weight/conv1.wieght"])
        session.close()
