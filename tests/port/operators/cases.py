"""One use of an operator: the function or layer that has it, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

__all__ = ["Case", "Family", "case", "chosen", "integers"]

Array = NDArray[Any]
Spec = tuple[int, ...] | Array


@dataclass(frozen=True, kw_only=True)
class Case:
    operator: str
    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    gradient: bool = True


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def case(operator: str, function: Callable[..., Any], *specs: Spec, gradient: bool = True) -> Case:
    """A shape stands for numbers drawn by it; an array for itself."""
    generator = np.random.default_rng(len(operator))
    module = function if isinstance(function, nn.Module) else Function(function)
    inputs = tuple(_drawn(spec, generator) for spec in specs)
    return Case(operator=operator, module=module, inputs=inputs, gradient=gradient)


def _drawn(spec: Spec, generator: np.random.Generator) -> torch.Tensor:
    array = spec if isinstance(spec, np.ndarray) else generator.standard_normal(spec).astype(np.float32)
    return torch.from_numpy(array)


def integers(high: int, *shape: int) -> Array:
    return np.random.default_rng(high).integers(0, high, shape, np.int64)


def chosen(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).random(shape) < 0.5


class Family(nn.Module):
    """Cases side by side, so that one export reads them all."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = nn.ModuleList([case.module for case in cases])
        self.counts = [len(case.inputs) for case in cases]
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))

    def forward(self, inputs: list[torch.Tensor]) -> list[Any]:
        outputs, start = [], 0
        for module, count in zip(self.cases, self.counts, strict=True):
            outputs.append(module(*inputs[start : start + count]))
            start += count
        return outputs
