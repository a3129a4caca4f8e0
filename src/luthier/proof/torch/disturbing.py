"""A network's own noise made visible: every weight and every layer's output moved by a few roundings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from luthier.proof.network import mapped

__all__ = ["disturbed"]


@contextmanager
def disturbed(module: nn.Module, amount: float, seed: int) -> Iterator[None]:
    """`amount` is relative; weights are put back afterwards."""
    if not amount:
        yield
        return
    generator = torch.Generator().manual_seed(seed)

    def moved(value: Any) -> Any:
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        noise = torch.randn(value.shape, generator=generator, dtype=value.dtype)
        return value * (1.0 + amount * noise)

    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        return mapped(output, moved)

    leaves = [layer for layer in module.modules() if not any(True for _ in layer.children())]
    hooks = [layer.register_forward_hook(hook, prepend=True) for layer in leaves]
    before = [parameter.detach().clone() for parameter in module.parameters()]
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(moved(parameter))
    try:
        yield
    finally:
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), before, strict=True):
                parameter.copy_(value)
        for handle in hooks:
            handle.remove()
