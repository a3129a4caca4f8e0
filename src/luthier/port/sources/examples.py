"""Tensors that stand for the inputs while a module is read, and which of their lengths are open."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from luthier.errors import PortError, unknown
from luthier.port.inputs import OPEN
from luthier.port.manifest import Input

__all__ = ["Examples", "examples", "given"]

Examples = tuple[tuple[Any, ...], dict[str, Any]]


def given(module: nn.Module, inputs: Any) -> tuple[Examples, Examples]:
    """The user's own: the first axis of each tensor is open."""
    positional: tuple[Any, ...] = ()
    named: dict[str, Any] = {}
    if isinstance(inputs, Mapping) and set(inputs) <= set(_names(module)):
        named = dict(inputs)
    else:
        positional = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    return (positional, named), (tree_map(_first_axis, positional), tree_map(_first_axis, named))


def examples(module: nn.Module, asked: Sequence[Input]) -> tuple[Examples, Examples]:
    """Random ones of the shapes that were asked for; `?` is open, and the first axis of each."""
    names = _names(module)
    for item in asked:
        if item.name and item.name not in names:
            sentence, hint = unknown("argument", item.name, names)
            raise PortError(sentence, at="--input", hint=hint)
    positional = tuple(_tensor(item) for item in asked if not item.name)
    named = {item.name: _tensor(item) for item in asked if item.name}
    axes = [tuple(i for i, length in enumerate(item.shape) if length == "?" or i == 0) for item in asked]
    opens = tuple(axis for axis, item in zip(axes, asked, strict=True) if not item.name)
    return (positional, named), (opens, {item.name: axis for axis, item in zip(axes, asked, strict=True) if item.name})


def _names(module: nn.Module) -> list[str]:
    return list(inspect.signature(module.forward).parameters)


def _first_axis(item: Any) -> Any:
    return (0,) if isinstance(item, torch.Tensor) and item.dim() > 0 else None


def _tensor(item: Input) -> torch.Tensor:
    shape = [OPEN if length == "?" else length for length in item.shape]
    dtype = getattr(torch, item.dtype)
    generator = torch.Generator().manual_seed(1)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 2, shape, generator=generator).to(dtype)
