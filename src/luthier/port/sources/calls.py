"""Which of a module's arguments is which node of the graph: noted while `torch.export` calls the modules."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot

__all__ = ["Calls", "noted_calls", "tensors"]

Calls = dict[str, list[list[tuple[str, str]]]]  # a module's path, each of its calls, each argument and its node


@contextmanager
def noted_calls(module: nn.Module) -> Iterator[Calls]:
    """Fill the record while the block exports."""
    found: Calls = {}
    handles = [
        part.register_forward_pre_hook(_noting(path, found), with_kwargs=True) for path, part in module.named_modules()
    ]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _noting(path: str, found: Calls) -> Any:
    def note(module: nn.Module, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        try:
            bound = inspect.signature(module.forward).bind(*args, **keywords).arguments
        except TypeError:  # the module's own error is the better one
            return
        named = [pair for name, value in bound.items() for pair in tensors(name, value)]
        found.setdefault(path, []).append([(name, _node(value)) for name, value in named])

    return note


def tensors(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """A tuple's parts are numbered, a dictionary's keep their names."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors(str(key), item)
    elif isinstance(value, tuple | list):
        for i, item in enumerate(value, start=1):
            yield from tensors(f"{name}{i}", item)


def _node(value: torch.Tensor) -> str:
    mode = get_proxy_mode()
    slot = get_proxy_slot(value, mode.tracer, None) if mode is not None else None
    return str(slot.proxy.node.name) if slot is not None and hasattr(slot, "proxy") else ""
