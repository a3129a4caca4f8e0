"""Muon: momentum made orthogonal, for matrices and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

__all__ = ["Muon", "orthogonalised"]

QUINTIC = (3.4445, -4.7750, 2.0315)  # Jordan's coefficients: steepest at zero, bounded near one


class Muon(torch.optim.Optimizer):
    """A filter is a matrix with a row for each output channel; rows are mixed, never what lies within one."""

    def __init__(self, params: list[dict[str, Any]], *, momentum: float, nesterov: bool, num_iterations: int) -> None:
        self.momentum = momentum
        self.nesterov = nesterov
        self.num_iterations = num_iterations
        super().__init__(params, {"lr": 0.0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad, group["lr"], group["weight_decay"])

    def _update(self, parameter: Tensor, gradient: Tensor, lr: float, decay: float) -> None:
        average = self.state[parameter]["momentum_buffer"].mul_(self.momentum).add_(gradient)
        direction = gradient.add(average, alpha=self.momentum) if self.nesterov else average
        update = orthogonalised(direction.flatten(1), self.num_iterations).view_as(parameter)
        rows, columns = parameter.shape[0], parameter.numel() // parameter.shape[0]
        parameter.mul_(1 - lr * decay).add_(update, alpha=-lr * max(1.0, rows / columns) ** 0.5)


def orthogonalised(matrix: Tensor, num_iterations: int) -> Tensor:
    """About the nearest matrix whose singular values are one, by Newton and Schulz's iteration."""
    a, b, c = QUINTIC
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    x: Tensor = wide / (wide.norm() + 1e-7)
    for _ in range(num_iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x if matrix.shape[0] <= matrix.shape[1] else x.T
