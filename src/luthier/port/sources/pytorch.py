"""A PyTorch module with example inputs, through `torch.export`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from luthier.errors import PortError
from luthier.port.findings import Outcome
from luthier.port.graph import Module, Network, Tensor
from luthier.port.sources.constructing import Arguments
from luthier.port.sources.examples import Examples
from luthier.port.sources.features import choices, hooks
from luthier.port.sources.modules import dtype_name, tree
from luthier.port.sources.parts import Part, read_part
from luthier.port.sources.salvaging import salvaged

__all__ = ["read_module"]

SHARES = ("p", "drop_prob")  # of what dropouts of any kind leave out


def read_module(module: nn.Module, inputs: Examples, arguments: Arguments, opens: Examples) -> Network:
    """The module's graph in evaluation mode; the axes that `opens` names stay open where the module lets them.

    Where `torch.export` cannot follow the whole, the modules that it can follow are parts of their own.
    Whatever the module was, training or not, it is afterwards.
    """
    training = [(part, part.training) for part in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it would hide attention in one operator
    try:
        records = tree(module.eval(), arguments)
        try:
            parts = [read_part(module, records, "", inputs, opens)]
        except PortError as fault:
            parts = salvaged(module, records, inputs, fault)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for part, was in training:
            part.training = was
    return _network(module, records, parts, (*hooks(module), *choices(parts)))


def _network(
    module: nn.Module, records: Module, parts: Sequence[Part], features: tuple[tuple[str, Outcome, str], ...]
) -> Network:
    """With every array by name: parameters, buffers, and constants of the source's code."""
    held = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    kept = set(module.state_dict(keep_vars=True))
    constants = {value: tensor for part in parts for value, tensor in part.constants.items()}
    loose = {name: array for part in parts for name, array in part.arrays.items()}
    extra = {tensor.name: loose[tensor.name] for tensor in constants.values() if tensor.name not in held}
    first: dict[int, str] = {}
    ties = [(name, first.setdefault(id(tensor), name)) for name, tensor in held.items()]
    everything = held | extra
    return Network(
        module=records,
        scope=parts[0].scope,
        parts=tuple(part.scope for part in parts[1:]),
        state={name: _record(name, tensor) for name, tensor in everything.items()},
        constants=constants,
        arrays=lambda name: _array(everything[name]),
        loose=tuple(name for name in everything if name not in kept),
        ties=tuple((name, other) for name, other in ties if name != other),
        features=features,
        notes=tuple(note for part in parts for note in _silent(module, part)),
    )


def _silent(root: nn.Module, part: Part) -> Iterator[tuple[str, str]]:
    """The modules that are called and do nothing in evaluation: what they do in training is not in the graph."""
    heard = {part.scope.module.path} | {enter.scope.module.path for enter in part.scope.calls()}
    for module in part.scope.module.walk():
        idle = module.path in part.called and module.path not in heard
        if idle and not module.container and _acts_in_training(root.get_submodule(module.path)):
            yield (
                module.path,
                f"{module.class_name} does nothing in evaluation: what it does in training is not carried over",
            )
        dropout = module.arguments.get("torch.nn.MultiheadAttention", {}).get("dropout")
        if dropout and module.path in part.called:
            yield module.path, f"The attention's dropout of {dropout} acts in training alone, and is not carried over"


def _acts_in_training(module: nn.Module) -> bool:
    """Unless its share is zero, or its forward pass never asks whether it trains."""
    shares = [getattr(module, name, None) for name in SHARES]
    if any(isinstance(share, int | float) for share in shares):
        return any(shares)
    parts = [type(part) for part in module.modules()]
    return any("training" in part.forward.__code__.co_names for part in parts if hasattr(part.forward, "__code__"))


def _record(name: str, tensor: torch.Tensor) -> Tensor:
    trainable = isinstance(tensor, nn.Parameter) and tensor.requires_grad
    return Tensor(name=name, shape=tuple(tensor.shape), dtype=dtype_name(tensor.dtype), trainable=trainable)


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    if tensor.dtype == torch.bfloat16:
        raise PortError("Weights in bfloat16 cannot be carried over", hint="Call .float() on the module first.")
    found: NDArray[Any] = tensor.detach().cpu().contiguous().numpy()
    return found
