"""The pooling with the quick gradient, and the running statistics, against PyTorch's, exactly."""

from __future__ import annotations

from typing import Any

import mindspore
import numpy as np
import pytest
import torch
from mindspore import Tensor, nn, ops
from numpy.typing import NDArray

from luthier.zoo.activations import ACTIVATIONS as TORCH_ACTIVATIONS
from luthier.zoo.mindspore.activations import ACTIVATIONS
from luthier.zoo.mindspore.layers import MaxPool2d, batch_norm

Array = NDArray[Any]


class Pulled(nn.Cell):  # type: ignore[misc]
    """The gradient of a cell's output times `pull`."""

    def __init__(self, cell: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.cell = cell
        self.gradient = ops.GradOperation(sens_param=True)

    def construct(self, x_BCHW: Tensor, pull: Tensor) -> Tensor:
        return self.gradient(self.cell)(x_BCHW, pull)


def with_ties(shape: tuple[int, ...]) -> Array:
    values: Array = np.round(np.random.default_rng(0).standard_normal(shape)).astype(np.float32) - 3
    return values


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"kernel_size": 2}, (4, 3, 8, 8)),
        ({"kernel_size": 2}, (4, 3, 7, 9)),
        ({"kernel_size": 2, "ceil_mode": True}, (4, 3, 7, 9)),
        ({"kernel_size": 2, "ceil_mode": True}, (4, 3, 6, 4)),
        ({"kernel_size": 3}, (4, 3, 10, 11)),
        ({"kernel_size": 3, "stride": 2, "padding": 1}, (2, 3, 9, 8)),
    ],
)
def test_ties_go_where_pytorch_sends_them(
    mode: str, options: dict[str, Any], shape: tuple[int, ...], training: bool
) -> None:
    x_BCHW = with_ties(shape)
    source = torch.from_numpy(x_BCHW).requires_grad_()
    pooled = torch.nn.functional.max_pool2d(source, **options)
    pull = np.random.default_rng(1).standard_normal(pooled.shape).astype(np.float32)
    pooled.backward(torch.from_numpy(pull))
    cell = MaxPool2d(**options)
    cell.set_train(training)
    assert source.grad is not None
    assert np.array_equal(cell(Tensor(x_BCHW)).asnumpy(), pooled.detach().numpy())
    gradient = Pulled(cell).set_train(training)(Tensor(x_BCHW), Tensor(pull)).asnumpy()
    assert np.allclose(gradient, source.grad.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(2, 3, 1, 1), (2, 3, 2, 2), (8, 3, 5, 7)])
def test_running_statistics_keep_the_unbiased_variance_and_move_once_a_step(mode: str, shape: tuple[int, ...]) -> None:
    x_BCHW = (np.random.default_rng(0).standard_normal(shape) * 3 + 1).astype(np.float32)
    cell, module = batch_norm(3), torch.nn.BatchNorm2d(3)
    pulled = Pulled(cell)
    pulled.set_train(True)
    for _ in range(3):
        pulled(Tensor(x_BCHW), mindspore.ops.ones_like(Tensor(x_BCHW)))
        module(torch.from_numpy(x_BCHW))
    assert module.running_mean is not None
    assert module.running_var is not None
    assert np.allclose(cell.moving_mean.asnumpy(), module.running_mean.numpy(), rtol=1e-5, atol=1e-6)
    assert np.allclose(cell.moving_variance.asnumpy(), module.running_var.numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_an_activation_is_pytorch_s_where_it_bends_and_where_it_saturates(name: str) -> None:
    x = np.linspace(-12, 12, 4001).astype(np.float32)
    exact = TORCH_ACTIVATIONS[name]()(torch.from_numpy(x).double()).numpy()
    assert np.abs(ACTIVATIONS[name]()(Tensor(x)).asnumpy() - exact).max() < 2e-6


def test_mindspore_s_own_tanh_is_still_off() -> None:
    """Where this fails, a new MindSpore has mended its tanh, and `activations.Tanh` can go."""
    x = np.linspace(4, 6, 1001).astype(np.float32)
    assert np.abs(nn.Tanh()(Tensor(x)).asnumpy() - np.tanh(x.astype(np.float64))).max() > 5e-5
