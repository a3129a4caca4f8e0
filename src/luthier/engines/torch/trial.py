"""A user's own network on two images, before a run begins: whether it works, and in which layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import NoReturn

import torch
from torch import Tensor, nn

from luthier.errors import LuthierError, ModelError
from luthier.strategy import generators_kept
from luthier.zoo import FAULTS, raised

__all__ = ["tell_fault", "usable_layout"]

LONGEST = 100  # characters of a fault in a note
Attempt = Callable[[nn.Module, torch.memory_format], None]


def usable_layout(module: nn.Module, attempt: Attempt, name: str) -> tuple[torch.memory_format, str | None]:
    """Channels-last where the network takes it, else PyTorch's usual order and a note; or what it raises, told.

    Neither a random number nor a statistic of the network is another afterwards.
    """
    try:
        with _copied(module) as copy:
            attempt(copy.to(memory_format=torch.channels_last), torch.channels_last)  # type: ignore[call-overload]
        return torch.channels_last, None
    except FAULTS as fault:
        first = fault
    with _copied(module) as copy:
        try:
            attempt(copy.to(memory_format=torch.contiguous_format), torch.contiguous_format)  # type: ignore[call-overload]
        except FAULTS as fault:
            tell_fault(fault, copy, name)
    remedy = ": x.reshape or x.flatten in place of x.view takes both" if "view size" in str(first) else ""
    note = f"{name} takes no images that lie channels-last, which may be faster{remedy} ({raised(first)[:LONGEST]})"
    return torch.contiguous_format, note


@contextmanager
def _copied(module: nn.Module) -> Iterator[nn.Module]:
    """A copy to try; what cannot be copied (a weight that is computed from others) is tried itself, and mended."""
    tensor = next(iter(module.parameters()), torch.empty(0))
    with torch.random.fork_rng([tensor.device] if tensor.is_cuda else []), generators_kept():
        try:
            copy = deepcopy(module)
        except Exception:  # a foreign object may refuse in any way
            copy = module
        buffers = {name: buffer.clone() for name, buffer in copy.named_buffers()}
        try:
            yield copy
        finally:
            _mend(copy, buffers)


@torch.no_grad()
def _mend(module: nn.Module, buffers: dict[str, Tensor]) -> None:
    for name, buffer in module.named_buffers():
        if name in buffers:
            buffer.copy_(buffers[name])
    for parameter in module.parameters():
        parameter.grad = None


def tell_fault(fault: BaseException, module: nn.Module, name: str) -> NoReturn:
    """What a user's network raised is the user's, and is told with the layer that it came from."""
    if isinstance(fault, LuthierError):
        raise fault
    layer = _layer(fault, module)
    at = f"model.name, in {layer}" if layer else "model.name"
    raise ModelError(f"{name} raised {raised(fault)}", at=at) from fault


def _layer(fault: BaseException, module: nn.Module) -> str | None:
    """The innermost layer whose code was running."""
    names = {id(layer): f"{name} ({type(layer).__name__})" for name, layer in module.named_modules() if name}
    found, traceback = None, fault.__traceback__
    while traceback:
        found = names.get(id(traceback.tb_frame.f_locals.get("self")), found)
        traceback = traceback.tb_next
    return found
