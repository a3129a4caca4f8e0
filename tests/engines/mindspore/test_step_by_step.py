"""From the same weights and batches both engines' losses agree step by step, as far as float32 can tell.

The limit is PyTorch's own: how far its float32 losses, in two memory layouts and two orders of the images, are from
those of float64 up to a step.

Where a network has kinks, rounding decides about once in a hundred steps on which side of a ReLU or which pixel of a
pool a value falls, and the losses part: of PyTorch from float64, by up to 1e-2, and of PyTorch from itself. So every
network takes single steps as it ships, each from PyTorch's own state; and a hundred on its own where such steps are
none, with smooth activations and average-pooling, or where there are so many that all drift alike, with BatchNorm.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from luthier import zoo
from luthier.data import Batch, open_data
from luthier.engines import Arrays, open_session
from luthier.recipe import Recipe, load

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

Losses = NDArray[np.float64]
Weights = NDArray[np.float64]
SIZE, TIMES, SHAPE = 16, 8.0, (32, 32, 1)
GRAIN = 2e-6  # of a loss: what a sum in another order costs it at the first step
SMOOTH = {
    "lenet5": ("model.name=lenet5", "model.options={activation = 'tanh', pooling = 'avg'}"),
    "slim": ("model.name=slim", "model.options={width = 0.5, activation = 'gelu', pooling = 'avg'}"),
}
AS_SHIPPED = {
    "lenet5": ("model.name=lenet5",),
    "slim": ("model.name=slim", "model.options={width = 0.5}"),
    "resnet18": ("model.name=resnet18", "model.options={width = 0.125, stem = 'cifar'}"),
    "resnet50": ("model.name=resnet50",),
}
RATES = {"momentum": 0.01, "nesterov": 0.01, "adam": 0.001, "adamw": 0.001}
DECAYS = (0.0, 0.05)
SLOTS = {"momentum": "momentum_buffer", "moment1": "exp_avg", "moment2": "exp_avg_sq", "step": "step"}
KINKS = 3e-3  # of a step's length: what one value on the other side of a kink changes


def recipe(network: tuple[str, ...], optimizer: str, decay: float, *settings: str) -> Recipe:
    chosen = (f"strategy.optimizer={optimizer}", f"strategy.optimizer.weight_decay={decay}")
    return load(
        "lenet5-digits",
        [*network, *chosen, "device=cpu", f"data.batch_size={SIZE}", "data.train=[]", *settings],
    )


def batches(made: Recipe, count: int) -> list[Batch]:
    """Digits under noise: where neighbouring pixels are equal, rounding decides which of a pool's is the greatest."""
    draw = np.random.default_rng(0)
    with open_data(made.data, seed=1) as data:
        steps = data.train.steps
        plain = [batch for epoch in range(-(-count // steps)) for batch in data.train.epoch(epoch)][:count]
    return [
        Batch(images=batch.images // 2 + draw.integers(0, 128, batch.images.shape, np.uint8), labels=batch.labels)
        for batch in plain
    ]


def in_another_order(given: list[Batch]) -> list[Batch]:
    """The images of each batch turned round: the same losses, by sums that round elsewhere."""
    return [Batch(images=batch.images[::-1].copy(), labels=batch.labels[::-1].copy()) for batch in given]


def losses(made: Recipe, weights: Arrays, given: list[Batch], rate: float) -> Losses:
    """The engine's own."""
    session = open_session(made, shape=SHAPE, num_classes=10)
    session.load(weights)
    found = [float(session.step(batch, rate)) for batch in given]
    session.close()
    return np.array(found)


def by_torch(made: Recipe, weights: Arrays, given: list[Batch], rate: float, *, exact: bool) -> Losses:
    """A bare loop with PyTorch's own optimizers, in float64 or in float32 and rows of pixels."""
    dtype = torch.float64 if exact else torch.float32
    module = zoo.build(made.model, shape=SHAPE, num_classes=10)
    module.load_state_dict({key.removeprefix("model/"): torch.from_numpy(array) for key, array in weights.items()})
    module.to(dtype).train()
    optimizer = torch_optimizer(made, list(module.parameters()), rate)
    found = []
    for batch in given:
        loss = loss_of(module, made, batch, dtype)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        found.append(loss.item())
    return np.array(found)


def loss_of(module: torch.nn.Module, made: Recipe, batch: Batch, dtype: torch.dtype) -> torch.Tensor:
    normalize = made.data.normalize
    mean, std = (torch.tensor(values, dtype=dtype).view(1, -1, 1, 1) for values in (normalize.mean, normalize.std))
    x = (torch.from_numpy(batch.images).permute(0, 3, 1, 2).to(dtype).contiguous() / 255 - mean) / std
    return torch.nn.functional.cross_entropy(module(x), torch.from_numpy(batch.labels).long())


def torch_optimizer(made: Recipe, parameters: list[Any], rate: float) -> torch.optim.Optimizer:
    record: Any = made.strategy.optimizer
    kind, decay = record.__struct_config__.tag, record.weight_decay
    if kind in ("momentum", "nesterov"):
        return torch.optim.SGD(parameters, rate, record.momentum, weight_decay=decay, nesterov=kind == "nesterov")
    optimizer = torch.optim.Adam if kind == "adam" else torch.optim.AdamW
    return optimizer(parameters, rate, (record.beta1, record.beta2), record.epsilon, weight_decay=decay)


def distance(network: tuple[str, ...], optimizer: str, decay: float, mode: str, steps: int) -> tuple[Losses, Losses]:
    """How far MindSpore's losses are from the exact ones, and how far PyTorch's were up to each step."""
    made, rate = recipe(network, optimizer, decay), RATES[optimizer]
    given = batches(made, steps)
    session = open_session(made, shape=SHAPE, num_classes=10, training=False)
    weights = session.state()
    exact = by_torch(made, weights, given, rate, exact=True)
    own = losses(recipe(network, optimizer, decay, "engine=mindspore", f"mode={mode}"), weights, given, rate)
    rounded = [
        by_torch(made, weights, given, rate, exact=False),
        losses(recipe(network, optimizer, decay, "engine=torch"), weights, given, rate),
        by_torch(made, weights, in_another_order(given), rate, exact=False),
    ]
    drift = np.maximum.accumulate(np.max([np.abs(each - exact) for each in rounded], axis=0))
    assert exact[0] > 1.5, "the first loss is that of a network that knows nothing"
    return np.abs(own - exact), np.asarray(drift + GRAIN)


def require_agreement(network: tuple[str, ...], optimizer: str, decay: float, mode: str, steps: int) -> None:
    error, drift = distance(network, optimizer, decay, mode, steps)
    worst = int(np.argmax(error / drift))
    told = f"step {worst + 1}: {error[worst]:.2e} from float64, PyTorch's float32 up to {drift[worst]:.2e}"
    assert error[worst] <= TIMES * drift[worst], told


def model(state: Arrays) -> Weights:
    """All weights and statistics, one after the other."""
    return np.concatenate([state[key].ravel().astype(np.float64) for key in sorted(state) if key.startswith("model/")])


def single_step(made: Recipe, state: Arrays, batch: Batch, rate: float, dtype: torch.dtype) -> tuple[float, Weights]:
    """PyTorch's from a state, moments included: the loss, and all weights and statistics after it."""
    module = zoo.build(made.model, shape=SHAPE, num_classes=10)
    module.load_state_dict({name: torch.from_numpy(array) for name, array in part(state, "model/").items()})
    module.to(dtype).train()
    optimizer = torch_optimizer(made, list(module.parameters()), rate)
    slots = part(state, "optimizer/")
    for name, parameter in module.named_parameters():
        for ours, theirs in SLOTS.items():
            if (array := slots.get(f"{ours}/{name}")) is not None:
                optimizer.state[parameter][theirs] = torch.tensor(
                    array, dtype=torch.float32 if ours == "step" else dtype
                )
    loss = loss_of(module, made, batch, dtype)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item(), model({f"model/{name}": value.numpy() for name, value in module.state_dict().items()})


def part(state: Arrays, prefix: str) -> Arrays:
    return {key.removeprefix(prefix): array for key, array in state.items() if key.startswith(prefix)}


def require_single_steps(network: str, optimizer: str, decay: float, mode: str, steps: int) -> None:
    """Each from PyTorch's state, moments included: the loss, and the change of all weights together, are as exact."""
    rate, common = RATES[optimizer], (AS_SHIPPED[network], optimizer, decay)
    theirs_made, ours_made = recipe(*common, "engine=torch"), recipe(*common, "engine=mindspore", f"mode={mode}")
    theirs, ours = (open_session(m, shape=SHAPE, num_classes=10) for m in (theirs_made, ours_made))
    loss_drift, drift = GRAIN, KINKS / TIMES
    for number, batch in enumerate(batches(theirs_made, steps), start=1):
        state = theirs.state()
        ours.load({key: array for key, array in state.items() if not key.startswith("rng/")})
        exact_loss, exact = single_step(theirs_made, state, batch, rate, torch.float64)
        length = float(np.linalg.norm(exact - model(state)))
        rounded = [single_step(theirs_made, state, batch, rate, torch.float32)]
        rounded.append((float(theirs.step(batch, rate)), model(theirs.state())))
        loss_drift = max(loss_drift, *(abs(loss - exact_loss) for loss, _ in rounded))
        drift = max(drift, *(float(np.linalg.norm(weights - exact)) / length for _, weights in rounded))
        loss = float(ours.step(batch, rate))
        assert abs(loss - exact_loss) <= TIMES * loss_drift, f"step {number}: {loss} where {exact_loss} is exact"
        error = np.linalg.norm(model(ours.state()) - exact) / length
        assert error <= max(KINKS, TIMES * drift), (
            f"step {number}: off by {error:.2g}, PyTorch's float32 by {drift:.2g}"
        )
    ours.close()


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("optimizer", ["nesterov", "adamw"])
def test_a_smooth_lenet5_agrees_for_a_hundred_steps(optimizer: str, decay: float) -> None:
    require_agreement(SMOOTH["lenet5"], optimizer, decay, "graph", 100)


@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
def test_a_smooth_lenet5_agrees_in_eager_mode_too(optimizer: str) -> None:
    require_agreement(SMOOTH["lenet5"], optimizer, 0.05, "eager", 30)


@pytest.mark.parametrize(("network", "optimizer", "steps"), [("lenet5", "momentum", 60), ("slim", "adamw", 10)])
def test_a_network_as_it_ships_takes_the_same_single_steps(network: str, optimizer: str, steps: int) -> None:
    require_single_steps(network, optimizer, 0.05, "graph", steps)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["graph", "eager"])
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("optimizer", RATES)
@pytest.mark.parametrize("network", SMOOTH)
def test_every_smooth_network_agrees_for_a_hundred_steps(network: str, optimizer: str, decay: float, mode: str) -> None:
    require_agreement(SMOOTH[network], optimizer, decay, mode, 100)


@pytest.mark.slow
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("optimizer", RATES)
@pytest.mark.parametrize("network", ["slim", "resnet18"])
def test_a_network_with_batch_norm_agrees_as_it_ships(network: str, optimizer: str, decay: float) -> None:
    require_agreement(AS_SHIPPED[network], optimizer, decay, "graph", 100)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["graph", "eager"])
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("optimizer", RATES)
@pytest.mark.parametrize("network", ["lenet5", "slim", "resnet18"])
def test_every_network_takes_the_same_hundred_steps(network: str, optimizer: str, decay: float, mode: str) -> None:
    require_single_steps(network, optimizer, decay, mode, 100)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["graph", "eager"])
@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("optimizer", RATES)
def test_resnet50_takes_the_same_three_steps(optimizer: str, decay: float, mode: str) -> None:
    require_single_steps("resnet50", optimizer, decay, mode, 3)
