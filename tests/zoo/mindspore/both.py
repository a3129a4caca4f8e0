"""The same network, batch and loss by two routes: logits, running statistics and gradients, by PyTorch's names."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from mindspore import Tensor, nn, ops
from numpy.typing import NDArray

from luthier import zoo
from luthier.recipe import Model
from luthier.weights import WeightMap, match
from luthier.zoo.mindspore import build
from luthier.zoo.mindspore.activations import ACTIVATIONS

Array = NDArray[Any]
SHAPE = (32, 32, 3)
CLASSES = 7


@dataclass(frozen=True, kw_only=True)
class Passed:
    """What one training pass and an evaluation after it leave."""

    logits: Array
    evaluated: Array
    gradients: dict[str, Array]
    state: dict[str, Array]


def mapped(module: torch.nn.Module, cell: nn.Cell) -> WeightMap:
    return match(
        {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()},
        {parameter.name: tuple(parameter.shape) for parameter in cell.get_parameters()},
    )


def networks(name: str, options: dict[str, Any], **given: Any) -> tuple[torch.nn.Module, nn.Cell]:
    model = Model(name=name, options=options, **given)
    return (
        zoo.build(model, shape=SHAPE, num_classes=CLASSES, seed=3),
        build(model, shape=SHAPE, num_classes=CLASSES, seed=3),
    )


def by_torch(module: torch.nn.Module, images: Array, labels: Array, dtype: torch.dtype) -> Passed:
    module = module.to(dtype)
    x_BCHW = torch.from_numpy(images).to(dtype)
    logits = module.train()(x_BCHW)
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels).long()).backward()  # type: ignore[no-untyped-call]
    with torch.no_grad():
        evaluated = module.eval()(x_BCHW)
    return Passed(
        logits=logits.detach().numpy(),
        evaluated=evaluated.numpy(),
        gradients={name: parameter.grad.numpy() for name, parameter in module.named_parameters()},  # type: ignore[union-attr]
        state={name: tensor.numpy() for name, tensor in module.state_dict().items()},
    )


class WithLoss(nn.Cell):  # type: ignore[misc]
    def __init__(self, network: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, x_BCHW: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.network(x_BCHW)
        return ops.cross_entropy(logits, labels), logits


class Graded(nn.Cell):  # type: ignore[misc]
    def __init__(self, network: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.network = WithLoss(network)
        self.graded = ops.value_and_grad(self.network, None, network.trainable_params(), has_aux=True)

    def construct(self, x_BCHW: Tensor, labels: Tensor) -> Any:
        return self.graded(x_BCHW, labels)


def by_mindspore(cell: nn.Cell, weight_map: WeightMap, images: Array, labels: Array) -> Passed:
    graded = Graded(cell)
    graded.set_train(True)
    (_, logits), gradients = graded(Tensor(images), Tensor(labels))
    named = {p.name: g.asnumpy() for p, g in zip(cell.trainable_params(), gradients, strict=True)}
    cell.set_train(False)
    return Passed(
        logits=logits.asnumpy(),
        evaluated=cell(Tensor(images)).asnumpy(),
        gradients=weight_map.to_source(named, linear=True, partial=True),
        state=weight_map.to_source({p.name: p.asnumpy() for p in cell.get_parameters()}),
    )


def assert_within_noise(
    ours: Array, theirs: Array, exact: Array, what: str, *, scale: float = 1e-3, times: float = 12.0
) -> None:
    """No farther from the float64 result than a few times what PyTorch's float32 is, or float32's own grain."""
    scale = max(float(np.abs(exact).max()), scale)
    noise = max(float(np.abs(theirs - exact).max()), 4e-7 * scale)
    error = float(np.abs(ours - exact).max())
    assert error <= times * noise, f"{what}: {error:.2e} from float64, PyTorch's float32 {noise:.2e}"


def assert_agree(ours: Passed, theirs: Passed, exact: Passed) -> None:
    assert_within_noise(ours.logits, theirs.logits, exact.logits, "logits")
    assert_within_noise(ours.evaluated, theirs.evaluated, exact.evaluated, "logits in evaluation")
    for part in ("gradients", "state"):
        mine, reference, precise = getattr(ours, part), getattr(theirs, part), getattr(exact, part)
        counted = {name for name in reference if name.endswith("num_batches_tracked")}
        assert set(mine) == set(reference)
        for name in sorted(set(mine) - counted):
            scale = greatest(precise) if part == "gradients" else 1e-3
            assert_within_noise(mine[name], reference[name], precise[name], f"{part} of {name}", scale=scale)


def greatest(gradients: dict[str, Array]) -> float:
    """The size of the terms that a gradient sums: a bias's thousands mostly cancel, and leave their rounding."""
    return max(float(np.abs(array).max()) for array in gradients.values())


def smooth(module: torch.nn.Module, cell: nn.Cell) -> None:
    """Put tanh for a ResNet's ReLUs: near a kink the two routes, and PyTorch's two precisions, may take other sides."""
    for part in module.modules():
        if isinstance(getattr(part, "relu", None), torch.nn.ReLU):
            part.relu = torch.nn.Tanh()
    for _, inner in cell.cells_and_names():
        if isinstance(getattr(inner, "relu", None), nn.ReLU):
            inner.relu = ACTIVATIONS["tanh"]()


def compare(name: str, options: dict[str, Any], images: Array) -> None:
    module, cell = networks(name, options)
    if name.startswith("resnet"):
        smooth(module, cell)
    double = deepcopy(module)
    labels = (np.arange(len(images)) % CLASSES).astype(np.int32)
    weight_map = mapped(module, cell)
    ours = by_mindspore(cell, weight_map, images, labels)
    assert_agree(ours, by_torch(module, images, labels, torch.float32), by_torch(double, images, labels, torch.float64))


def compare_logits(name: str, options: dict[str, Any], images: Array) -> None:
    module, cell = networks(name, options)
    with torch.no_grad():
        theirs = [module.train(training)(torch.from_numpy(images)).numpy() for training in (True, False)]
        module, _ = networks(name, options)
        double = module.double()
        exact = [double.train(training)(torch.from_numpy(images).double()).numpy() for training in (True, False)]
    ours = [cell.set_train(training)(Tensor(images)).asnumpy() for training in (True, False)]
    for i, what in enumerate(("logits in training", "logits in evaluation")):
        assert_within_noise(ours[i], theirs[i], exact[i], what)
