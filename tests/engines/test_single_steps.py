"""What one step does to the weights, against the optimizers' formulas in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from luthier import zoo
from luthier.data import Batch
from luthier.engines import Session, open_session
from luthier.engines.torch import TorchSession
from luthier.engines.torch.muon import orthogonalised
from luthier.recipe import Recipe, override
from luthier.strategy import label_weights
from luthier.testing import random_batches

Array = NDArray[Any]
Arrays = dict[str, Array]
Update = Callable[
    [Array, Array, dict[str, Array], float, float, int], Array
]  # weight, gradient, slots, rate, decay, step

SHAPE, CLASSES, RATE = (2, 2, 3), 3, 0.05
TINY = """
from torch import nn

def tiny(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, num_classes))

def frozen(num_classes):
    module = tiny(num_classes)
    module[1].weight.requires_grad = False
    return module
"""
NAMES = ("1.weight", "1.bias", "2.weight", "2.bias", "4.weight", "4.bias")


def sgd(weight: Array, gradient: Array, slots: dict[str, Array], rate: float, decay: float, step: int) -> Array:
    return weight - rate * (gradient + decay * weight)


def momentum(weight: Array, gradient: Array, slots: dict[str, Array], rate: float, decay: float, step: int) -> Array:
    slots["v"] = 0.8 * slots.get("v", 0.0) + gradient + decay * weight
    return weight - rate * slots["v"]


def nesterov(weight: Array, gradient: Array, slots: dict[str, Array], rate: float, decay: float, step: int) -> Array:
    decayed = gradient + decay * weight
    slots["v"] = 0.8 * slots.get("v", 0.0) + decayed
    return weight - rate * (decayed + 0.8 * slots["v"])


def adam(weight: Array, gradient: Array, slots: dict[str, Array], rate: float, decay: float, step: int) -> Array:
    decayed = gradient + decay * weight
    slots["m"] = 0.8 * slots.get("m", 0.0) + 0.2 * decayed
    slots["s"] = 0.9 * slots.get("s", 0.0) + 0.1 * decayed**2
    mean, square = slots["m"] / (1 - 0.8**step), slots["s"] / (1 - 0.9**step)
    return weight - rate * mean / (np.sqrt(square) + 1e-3)


def adamw(weight: Array, gradient: Array, slots: dict[str, Array], rate: float, decay: float, step: int) -> Array:
    return adam(weight, gradient, slots, rate, 0.0, step) - rate * decay * weight


ADAM = ("strategy.optimizer.beta1=0.8", "strategy.optimizer.beta2=0.9", "strategy.optimizer.epsilon=1e-3")
OPTIMIZERS: dict[str, tuple[Update, tuple[str, ...]]] = {
    "sgd": (sgd, ()),
    "momentum": (momentum, ("strategy.optimizer.momentum=0.8",)),
    "nesterov": (nesterov, ("strategy.optimizer.momentum=0.8",)),
    "adam": (adam, ADAM),
    "adamw": (adamw, ADAM),
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(TINY)
    return path


def recipe(own: Path, *settings: str, factory: str = "tiny") -> Recipe:
    return override(Recipe(name="tiny"), [f"model.name={own}:{factory}", "device=cpu", *settings])


def opened(made: Recipe) -> Session:
    return open_session(made, shape=SHAPE, num_classes=CLASSES)


def batches(count: int) -> list[Batch]:
    return random_batches(count, shape=SHAPE, num_classes=CLASSES)


def model(session: Session) -> Arrays:
    return {key.removeprefix("model/"): array for key, array in session.state().items() if key.startswith("model/")}


def gradients(made: Recipe, weights: Arrays, batch: Batch) -> Arrays:
    """By PyTorch alone: the network with those weights, the normalised batch, the mean cross-entropy."""
    network = zoo.build(made.model, shape=SHAPE, num_classes=CLASSES)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    mean, std = (np.array(part, np.float32) for part in (made.data.normalize.mean, made.data.normalize.std))
    pixels = (batch.images.astype(np.float32) / 255 - mean) / std
    logits = network(torch.from_numpy(pixels.transpose(0, 3, 1, 2).copy()))
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch.labels).long()).backward()  # type: ignore[no-untyped-call]
    return {name: value.grad.numpy() for name, value in network.named_parameters() if value.grad is not None}


def follow(made: Recipe, update: Update, decay: dict[str, float], factor: dict[str, float] | None = None) -> None:
    """Four steps of the session, each compared with the formula."""
    session, slots = opened(made), {name: dict[str, Array]() for name in NAMES}
    for step, batch in enumerate(batches(4), start=1):
        before = model(session)
        found = gradients(made, before, batch)
        session.step(batch, RATE)
        after = model(session)
        for name in NAMES:
            rate = RATE * (factor or {}).get(name, 1.0)
            expected = update(before[name], found[name], slots[name], rate, decay[name], step)
            np.testing.assert_allclose(after[name], expected, rtol=1e-5, atol=2e-6, err_msg=f"{name} at step {step}")


@pytest.mark.parametrize("name", OPTIMIZERS)
class TestOptimizers:
    def test_follows_its_formula(self, name: str, own: Path) -> None:
        update, settings = OPTIMIZERS[name]
        plain = "strategy.optimizer.weight_decay=0"
        follow(recipe(own, f"strategy.optimizer={name}", *settings, plain), update, dict.fromkeys(NAMES, 0.0))

    def test_decays_every_parameter(self, name: str, own: Path) -> None:
        update, settings = OPTIMIZERS[name]
        decay = "strategy.optimizer.weight_decay=0.1"
        follow(recipe(own, f"strategy.optimizer={name}", *settings, decay), update, dict.fromkeys(NAMES, 0.1))

    def test_decays_neither_normalisations_nor_biases_where_it_must_not(self, name: str, own: Path) -> None:
        update, settings = OPTIMIZERS[name]
        decay = ("strategy.optimizer.weight_decay=0.1", "strategy.optimizer.decay_norm_and_bias=false")
        expected = {name: 0.1 if name in ("1.weight", "4.weight") else 0.0 for name in NAMES}
        follow(recipe(own, f"strategy.optimizer={name}", *settings, *decay), update, expected)

    def test_gives_a_group_its_own_decay_and_rate(self, name: str, own: Path) -> None:
        update, settings = OPTIMIZERS[name]
        groups = "[{match = '4.*', learning_rate = 0.1, weight_decay = 0.5}, {match = '1.bias', learning_rate = 0}]"
        decay = ("strategy.optimizer.weight_decay=0.1", f"strategy.optimizer.groups={groups}")
        decays = {name: 0.5 if name.startswith("4.") else 0.1 for name in NAMES}
        factors = {"4.weight": 0.1, "4.bias": 0.1, "1.bias": 0.0}
        follow(recipe(own, f"strategy.optimizer={name}", *settings, *decay), update, decays, factors)


class TestMuon:
    @pytest.mark.parametrize("shape", [(5, 12), (12, 5), (16, 16), (8, 150)])
    def test_an_orthogonalised_matrix_has_singular_values_near_one(self, shape: tuple[int, int]) -> None:
        matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1))
        found = orthogonalised(matrix, 5)
        assert found.shape == matrix.shape
        values = torch.linalg.svdvals(found)
        assert float(values.min()) > 0.3
        assert float(values.max()) < 1.25
        left, _, right = torch.linalg.svd(matrix, full_matrices=False)
        assert float((found * (left @ right)).sum()) / min(shape) > 0.6  # the mean singular value along its own axes

    def test_matrices_move_orthogonally_and_vectors_as_adamw_moves_them(self, own: Path) -> None:
        settings = ("strategy.optimizer=muon", "strategy.optimizer.weight_decay=0.1")
        made = recipe(own, *settings, "strategy.optimizer.others_learning_rate=0.5")
        session, (batch,) = opened(made), batches(1)
        before = model(session)
        found = gradients(made, before, batch)
        session.step(batch, RATE)
        after = model(session)
        for name in ("1.weight", "4.weight"):
            rows, columns = before[name].shape
            moved = (before[name] * (1 - RATE * 0.1) - after[name]) / (RATE * max(1.0, rows / columns) ** 0.5)
            # A classifier's gradient has one rank less than classes: the shares of an image sum to one.
            values = np.linalg.svd(moved, compute_uv=False)[: np.linalg.matrix_rank(found[name])]
            assert values.min() > 0.3
            assert values.max() < 1.25
            assert float((moved * found[name]).sum()) > 0
        for name in ("1.bias", "2.weight", "2.bias", "4.bias"):
            rate = RATE * 0.5
            decayed = before[name] * (1 - rate * 0.1)
            expected = decayed - rate * found[name] / (np.abs(found[name]) + 1e-8)
            if np.abs(found[name]).min() > 1e-4:  # a bias before BatchNorm has no gradient but rounding
                np.testing.assert_allclose(after[name], expected, rtol=1e-4, atol=1e-5)


class TestLoss:
    @pytest.mark.parametrize("over", ["all", "others"])
    def test_smoothing_weighs_the_classes_as_the_strategy_says(self, over: Any, own: Path) -> None:
        session = opened(recipe(own, "strategy.label_smoothing=0.2", f"strategy.smoothing_over={over}"))
        (batch,) = batches(1)
        plain = recipe(own)
        weights = model(session)
        network = zoo.build(plain.model, shape=SHAPE, num_classes=CLASSES)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        mean, std = (np.array(part, np.float32) for part in (plain.data.normalize.mean, plain.data.normalize.std))
        pixels = ((batch.images / 255 - mean) / std).astype(np.float32).transpose(0, 3, 1, 2).copy()
        logs = torch.log_softmax(network(torch.from_numpy(pixels)), 1).detach().numpy()
        on, off = label_weights(CLASSES, 0.2, over)
        targets = np.where(np.eye(CLASSES)[batch.labels] > 0, on, off)
        assert float(session.step(batch, 0.0)) == pytest.approx(-(targets * logs).sum(axis=1).mean(), rel=1e-5)

    @pytest.mark.parametrize("scale", ["1024", "dynamic"])
    def test_a_loss_scale_leaves_the_step_as_it_is(self, scale: str, own: Path) -> None:
        plain = opened(recipe(own, "strategy.precision=float16"))
        scaled = opened(recipe(own, "strategy.precision=float16", f"strategy.loss_scale={scale}"))
        (batch,) = batches(1)
        assert float(plain.step(batch, RATE)) == float(scaled.step(batch, RATE))
        for name, array in model(plain).items():
            np.testing.assert_allclose(model(scaled)[name], array, atol=2e-3)

    def test_a_dynamic_scale_that_was_too_high_is_halved_and_changes_no_weight(self, own: Path) -> None:
        session = opened(recipe(own, "strategy.precision=float16", "strategy.loss_scale=dynamic"))
        state = session.state()
        state["optimizer/loss_scale"][:] = (2.0**60, 5)
        session.load(state)
        (batch,) = batches(1)
        assert np.isfinite(float(session.step(batch, RATE)))
        after = session.state()
        assert after["optimizer/loss_scale"].tolist() == [2.0**59, 0]
        changed = [key for key in state if not np.array_equal(state[key], after[key])]
        statistics = {"model/2.running_mean", "model/2.running_var", "model/2.num_batches_tracked"}
        assert set(changed) <= statistics | {"optimizer/loss_scale"}


class TestWhatIsTrained:
    def test_a_frozen_parameter_stays_and_has_no_slots(self, own: Path) -> None:
        session = opened(recipe(own, factory="frozen"))
        before = model(session)
        for batch in batches(3):
            session.step(batch, RATE)
        assert np.array_equal(before["1.weight"], model(session)["1.weight"])
        assert [info.name for info in session.parameters] == list(NAMES[1:])
        assert "optimizer/momentum/1.weight" not in session.state()

    def test_every_parameter_has_its_kind(self, own: Path) -> None:
        kinds = {info.name: info.kind for info in opened(recipe(own)).parameters}
        assert kinds == {
            "1.weight": "weight", "1.bias": "bias", "2.weight": "norm",
            "2.bias": "norm", "4.weight": "weight", "4.bias": "bias",
        }  # fmt: skip

    def test_the_average_follows_the_weights(self, own: Path) -> None:
        session = opened(recipe(own, "strategy.average_decay=0.95"))
        average = {name: array.astype(np.float64) for name, array in model(session).items()}
        for count, batch in enumerate(batches(5)):
            session.step(batch, RATE)
            decay = min(0.95, (1 + count) / (10 + count))
            for name, array in model(session).items():
                average[name] = decay * average[name] + (1 - decay) * array
        state = session.state()
        for name in NAMES:
            np.testing.assert_allclose(state[f"average/{name}"], average[name], rtol=1e-5, atol=1e-6)
        assert state["average/2.num_batches_tracked"] == 5

    def test_a_step_without_images_enough_for_every_part_still_counts_each_once(self, own: Path) -> None:
        """Five images in four parts come as 2, 2 and 1."""
        settings = ("strategy.accumulate=4", "model.options={}")
        lenet = override(Recipe(), ["device=cpu", *settings])
        whole = open_session(override(lenet, ["strategy.accumulate=1"]), shape=(32, 32, 3), num_classes=10)
        parts = open_session(lenet, shape=(32, 32, 3), num_classes=10)
        (batch,) = random_batches(1, size=5)
        assert float(parts.step(batch, RATE)) == pytest.approx(float(whole.step(batch, RATE)), abs=1e-6)
        for name, array in model(whole).items():
            np.testing.assert_allclose(model(parts)[name], array, atol=1e-6)

    def test_the_network_can_be_reached(self, own: Path) -> None:
        session = opened(recipe(own))
        assert isinstance(session, TorchSession)
        assert isinstance(session.module, torch.nn.Sequential)
