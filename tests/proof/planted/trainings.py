"""Faults of data, loss, gradients, optimizer and schedule, around a network in which nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mindspore
import numpy as np
import torch
from mindspore import Tensor, mint, nn, ops
from torch.nn import functional

from tests.proof.planted.fault import Fault, between, chain
from tests.proof.planted.structures import mlayers, tlayers

__all__ = ["TRAINING_FAULTS"]

RATE = 0.05
MEAN, STD = np.array([0.5, 0.4, 0.3, 0.2]), np.array([0.25, 0.2, 0.3, 0.15])
Made = Callable[[Any], Any]


def pixels(step: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    draw = np.random.default_rng(step)
    return draw.integers(0, 256, (4, 8, 8, 4)), draw.integers(0, 5, 4)


def right(images: Any) -> Any:
    return ((images / 255 - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)


class Theirs:
    """What the reference's trainer does, unless a fault needs another."""

    def __init__(self, **methods: Any) -> None:
        for name, method in methods.items():
            setattr(self, name, method)


def batches(images: Callable[[Any], Any] = right, labels: Callable[[Any], Any] = lambda y: y) -> Any:
    def given() -> Iterator[Any]:
        for step in range(3):
            x, y = pixels(step)
            yield images(x), labels(y)

    return given


def case(
    name: str,
    row: str,
    rung: str,
    trap: str | None,
    theirs: dict[str, Any],
    ours: dict[str, Any],
    layer: str = "",
    **options: Any,
) -> Fault:
    plain_t, plain_m = {"drop": lambda: torch.nn.Identity()}, {"drop": lambda: nn.Identity()}
    return Fault(
        name=name,
        row=row,
        reference=chain(tlayers(**plain_t)),
        candidate=between(mlayers(**plain_m)),
        inputs=["4,4,8,8"],
        rung=rung,
        layer=layer,
        trap=trap,
        options={"reference_trainer": Theirs(**theirs), "candidate_trainer": Theirs(**ours)} | options,
    )


def data(
    name: str, trap: str, images: Callable[[Any], Any] = right, labels: Callable[[Any], Any] = lambda y: y
) -> Fault:
    return case(name, "6.8", "data", trap, {"batches": batches()}, {"batches": batches(images, labels)})


def loss(name: str, trap: str | None, theirs: Any, ours: Any) -> Fault:
    return case(name, "6.4", "loss", trap, {"loss": theirs}, {"loss": ours})


def optimizer(name: str, trap: str | None, theirs: Made, ours: Made, layer: str = "entry") -> Fault:
    return case(name, "6.6", "optimizer steps", trap, {"optimizer": theirs}, {"optimizer": ours}, layer)


def schedule(name: str, trap: str, ours: list[float]) -> Fault:
    def theirs(network: torch.nn.Module) -> Any:
        made = torch.optim.SGD(network.parameters(), RATE, 0.9)
        return made, torch.optim.lr_scheduler.StepLR(made, 2, 0.5)

    return case(
        name,
        "6.7",
        "learning rates",
        trap,
        {"optimizer": theirs},
        {"optimizer": lambda network: nn.SGD(network.trainable_params(), ours, 0.9)},
    )


def sgd(**given: Any) -> Made:
    return lambda network: torch.optim.SGD(network.parameters(), RATE, **({"momentum": 0.9} | given))


def tcross(**given: Any) -> Any:
    return lambda outputs, labels: functional.cross_entropy(outputs, labels.long(), **given)


def mcross(**given: Any) -> Any:
    return lambda outputs, labels: ops.cross_entropy(outputs, labels.astype(mindspore.int32), **given)


def graded(change: Callable[[Any, Any], Any]) -> Any:
    """A training pass by hand whose gradients go through a change."""

    def gradients(network: Any, x: Tensor, labels: Tensor) -> Any:
        parameters = network.trainable_params()
        found = mindspore.value_and_grad(
            lambda given: ops.cross_entropy(network(given), labels.astype(mindspore.int32)), None, parameters
        )(x)
        return found[0], change(found[0], found[1])

    return gradients


def clipped(network: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor) -> Any:
    value = functional.cross_entropy(network(x), labels.long())
    found = torch.autograd.grad(value, list(network.parameters()))
    norm = torch.sqrt(sum((g * g).sum() for g in found))  # type: ignore[arg-type]
    factor = torch.clamp(0.1 / (norm + 1e-6), max=1.0)
    return value, [g * factor for g in found]


def clip(gradient: Tensor) -> Tensor:
    norm = ops.sqrt((gradient * gradient).sum())
    return gradient * ops.minimum(0.1 / (norm + 1e-6), Tensor(1.0, mindspore.float32))


WEIGHTS = [0.5, 1.0, 2.0, 3.0, 0.1]
DECAY = {"weight_decay": 0.05}
TRAINING_FAULTS = [
    data("images with the channels last", "layout", lambda x: right(x).transpose(0, 2, 3, 1)),
    data(
        "Normalize(is_hwc=True) on channels first",
        "normalise-layout",
        lambda x: ((x.transpose(0, 3, 1, 2) / 255 - np.resize(MEAN, 8)) / np.resize(STD, 8)).astype(np.float32),
    ),
    data(
        "a mean of 0–1 on pixels of 0–255",
        "normalise-scale",
        lambda x: ((x - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32),
    ),
    data("no normalisation", "normalise-scale", lambda x: (x / 255).transpose(0, 3, 1, 2).astype(np.float32)),
    data("a reshape for a transpose", "layout", lambda x: right(x).transpose(0, 2, 3, 1).reshape(4, 4, 8, 8)),
    data("shuffled samples", "order", lambda x: right(x)[::-1]),
    data("labels from 1", "labels", labels=lambda y: y + 1),
    loss("a sum for a mean", "loss-sum", tcross(), mcross(reduction="sum")),
    loss("no label smoothing", "label-smoothing", tcross(label_smoothing=0.1), mcross()),
    loss("softmax before the loss", "softmax-twice", tcross(), lambda o, y: mcross()(ops.softmax(o, -1), y)),
    loss("classes without their weights", "class-weights", tcross(weight=torch.tensor(WEIGHTS)), mcross()),
    loss("a loss that is not reduced", None, tcross(), mcross(reduction="none")),
    loss("an ignored class that counts", "ignore-index", tcross(ignore_index=2), mcross()),
    case(
        "the gradient of loss and logits together",
        "6.4",
        "gradients",
        "sum-of-outputs",
        {"loss": tcross()},
        {"loss": lambda o, y: (mcross()(o, y), o)},
        "fc",
    ),
    case(
        "a loss scale that is never taken out",
        "6.6",
        "gradients",
        "gradient-scaled",
        {"loss": tcross()},
        {"gradients": graded(lambda _, found: [g * 1024.0 for g in found])},
        "fc",
    ),
    case(
        "gradients clipped one by one",
        "6.3",
        "gradients",
        "clipped-one-by-one",
        {"gradients": clipped},
        {"gradients": graded(lambda _, found: [clip(g) for g in found])},
        "fc",
    ),
    optimizer(
        "weight decay that passes over gamma and beta",
        "weight-decay-scope",
        sgd(**DECAY),
        lambda network: nn.Momentum(network.trainable_params(), RATE, 0.9, **DECAY),
        "norm",
    ),
    optimizer(
        "Nesterov that is none",
        "nesterov",
        sgd(nesterov=True),
        lambda network: nn.Momentum(network.trainable_params(), RATE, 0.9, use_nesterov=True),
    ),
    optimizer("no weight decay", "weight-decay", sgd(**DECAY), lambda n: nn.SGD(n.trainable_params(), RATE, 0.9)),
    optimizer("another momentum", "momentum", sgd(), lambda n: nn.SGD(n.trainable_params(), RATE, 0.99)),
    case(
        "a learning rate left at 0.1",
        "6.6",
        "learning rates",
        "schedule-scale",
        {"optimizer": sgd()},
        {"optimizer": lambda n: nn.SGD(n.trainable_params(), momentum=0.9)},
    ),
    optimizer("dampening", "dampening", sgd(), lambda n: nn.SGD(n.trainable_params(), RATE, 0.9, dampening=0.9)),
    optimizer(
        "Adam's epsilon before the correction",
        "adam-epsilon",
        lambda n: torch.optim.Adam(n.parameters(), 1e-3, eps=1e-4),
        lambda n: nn.Adam(n.trainable_params(), 1e-3, eps=1e-4),
    ),
    optimizer(
        "AdamWeightDecay without bias correction",
        "bias-correction",
        lambda n: torch.optim.AdamW(n.parameters(), 1e-3, eps=1e-6, weight_decay=0.0),
        lambda n: nn.AdamWeightDecay(n.trainable_params(), 1e-3),
    ),
    optimizer(
        "Adam for AdamW",
        None,  # nn.Adam adds its epsilon before the correction, too: two faults at once
        lambda n: torch.optim.AdamW(n.parameters(), 1e-3, weight_decay=0.05),
        lambda n: nn.Adam([{"params": n.trainable_params(), "weight_decay": 0.05}], 1e-3),
    ),
    optimizer(
        "RMSProp from squares of 1",
        "first-squares",
        lambda n: torch.optim.RMSprop(n.parameters(), 1e-3, 0.9, eps=1e-8),
        lambda n: nn.RMSProp(n.trainable_params(), 1e-3, decay=0.9, epsilon=1e-8),
    ),
    optimizer(
        "Adagrad from squares of 0.1",
        "first-squares",
        lambda n: torch.optim.Adagrad(n.parameters(), 1e-2),
        lambda n: nn.Adagrad(n.trainable_params(), 0.1, 1e-2),
    ),
    optimizer(
        "mint.optim, which changes nothing",
        "no-update",
        sgd(momentum=0.0),
        lambda n: Mint(n.trainable_params()),
    ),
    schedule("a schedule one step early", "schedule-off-by-one", [RATE, RATE / 2, RATE / 2, RATE / 4, RATE / 4]),
    schedule("a schedule one step late", "schedule-off-by-one", [RATE, RATE, RATE, RATE / 2, RATE / 2, RATE / 4]),
    schedule("a rate that stays", "schedule-constant", [RATE] * 6),
    schedule("a schedule by steps for one by epochs", "schedule-unit", [RATE, RATE / 2, RATE / 4, RATE / 4, RATE / 4]),
]


class Mint:
    """mint.optim.SGD as a user meets it."""

    def __init__(self, parameters: Any) -> None:
        self.parameters = list(parameters)
        self.made = mint.optim.SGD(self.parameters, lr=RATE)

    def get_lr(self) -> float:
        return RATE

    def __call__(self, gradients: Any) -> Any:
        return self.made(gradients)
