"""A PyTorch module with example inputs, through `torch.export`."""

from __future__ import annotations

import inspect
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn
from torch.export import Dim, ExportedProgram

from luthier.errors import PortError
from luthier.port.graph import Module, Network, Tensor
from luthier.port.sources.calls import Calls, noted_calls
from luthier.port.sources.constructing import Arguments
from luthier.port.sources.examples import Examples
from luthier.port.sources.inlining import inline_modes
from luthier.port.sources.modules import dtype_name, tree
from luthier.port.sources.tracing import Folded, folded

__all__ = ["read_module"]

SHARES = ("p", "drop_prob")  # of what dropouts of any kind leave out
MAY_ALIAS = ("dropout", "feature_dropout", "alpha_dropout", "lift_fresh_copy")


def read_module(module: nn.Module, inputs: Examples, arguments: Arguments, opens: Examples) -> Network:
    """The module's graph in evaluation mode; the axes that `opens` names stay open where the module lets them.

    Whatever the module was, training or not, it is afterwards.
    """
    training = [(part, part.training) for part in module.modules()]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it would hide attention in one operator
    try:
        with noted_calls(module) as calls:
            program = _exported(module.eval(), inputs, opens, calls)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for part, was in training:
            part.training = was
    records = tree(module, arguments)
    return _network(module, records, folded(program, records, calls), program, calls)


def _network(module: nn.Module, records: Module, found: Folded, program: ExportedProgram, calls: Calls) -> Network:
    """With every array by name: parameters, buffers, and constants of the source's code."""
    held = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    kept = set(module.state_dict(keep_vars=True))
    extra = {
        tensor.name: program.constants[tensor.name] for tensor in found.constants.values() if tensor.name not in held
    }
    first: dict[int, str] = {}
    ties = [(name, first.setdefault(id(tensor), name)) for name, tensor in held.items()]
    everything = held | extra
    return Network(
        module=records,
        scope=found.scope,
        state={name: _record(name, tensor) for name, tensor in everything.items()},
        constants=found.constants,
        arrays=lambda name: _array(everything[name]),
        loose=tuple(name for name in everything if name not in kept),
        ties=tuple((name, other) for name, other in ties if name != other),
        notes=tuple(_silent(module, records, found, calls)),
    )


def _silent(root: nn.Module, records: Module, found: Folded, calls: Calls) -> Iterator[tuple[str, str]]:
    """The modules that are called and do nothing in evaluation: what they do in training is not in the graph."""
    heard = {enter.scope.module.path for enter in found.scope.calls()}
    for module in records.walk():
        idle = module.path in calls and module.path not in heard
        if idle and module.path and not module.container and _acts_in_training(root.get_submodule(module.path)):
            yield (
                module.path,
                f"{module.class_name} does nothing in evaluation: what it does in training is not carried over",
            )
        dropout = module.arguments.get("torch.nn.MultiheadAttention", {}).get("dropout")
        if dropout and module.path in calls:
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


def _exported(module: nn.Module, inputs: Examples, opens: Examples, calls: Calls) -> ExportedProgram:
    """With open lengths where the module allows them; one of 1 would be taken for a fixed one, and is doubled."""
    values, axes = list(inputs[0]) + list(inputs[1].values()), list(opens[0]) + list(opens[1].values())
    pairs = [(value, axis) for value, axis in zip(values, axes, strict=True)]
    doubled = [_mapped(_doubled, value, axis) for value, axis in pairs]
    dynamic = [
        _mapped(lambda item, axis: dict.fromkeys(axis, Dim.AUTO) if axis else None, value, axis)
        for value, axis in pairs
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = _export(module, doubled, dynamic, inputs)
        except Exception:  # whatever a module cannot do with an open length
            calls.clear()
            program = _fixed(module, values, inputs)
        inline_modes(program.graph_module)
        return program if _is_pure(program) else program.run_decompositions({})


def _fixed(module: nn.Module, values: Sequence[Any], inputs: Examples) -> ExportedProgram:
    try:
        return _export(module, values, None, inputs)
    except Exception as fault:  # whatever the user's module does, and whatever torch.export cannot follow
        raise _explained(fault) from fault


def _export(
    module: nn.Module, values: Sequence[Any], dynamic: Sequence[Any] | None, inputs: Examples
) -> ExportedProgram:
    count = len(inputs[0])
    args, named = tuple(values[:count]), dict(zip(inputs[1], values[count:], strict=True))
    shapes = None
    if dynamic is not None:
        names = list(inspect.signature(module.forward).parameters)
        shapes = dict(zip(names, dynamic[:count], strict=False)) | dict(zip(inputs[1], dynamic[count:], strict=True))
    return torch.export.export(module, args, named, dynamic_shapes=shapes, strict=False)


def _mapped(change: Callable[[Any, Any], Any], value: Any, axis: Any) -> Any:
    """Over a tensor, or the tensors in a tuple, a list or a dict, beside their open axes."""
    if isinstance(value, Mapping):
        return {name: _mapped(change, item, axis[name]) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(_mapped(change, item, part) for item, part in zip(value, axis, strict=True))
    return change(value, axis)


def _doubled(item: Any, axes: Any) -> Any:
    for axis in axes or ():
        if item.shape[axis] == 1:
            item = torch.cat([item, item], axis)
    return item


def _explained(fault: Exception) -> PortError:
    """The first sentence of what PyTorch says, with the user's line where one is known."""
    kind = type(fault).__name__
    said = next((line.strip() for line in str(fault).splitlines() if line.strip()), kind)
    own = [frame for frame in traceback.extract_tb(fault.__traceback__) if not _is_library(frame.filename)]
    at = f"{own[-1].filename}:{own[-1].lineno}" if own else None
    if "data-dependent" in str(fault).lower() or "DataDependent" in kind or "GuardOnData" in kind:
        return PortError(
            "The forward pass depends on the data, which no fixed graph can follow",
            at=at,
            hint="Write the choice with torch.where, or port the parts on either side of it.",
        )
    return PortError(
        f"The network cannot be read: {kind}: {said}", at=at, hint="Do the inputs have the shapes that it takes?"
    )


def _is_library(file: str) -> bool:
    return "site-packages" in file or f"luthier{os.sep}port" in file or file.startswith("<")


def _is_pure(program: ExportedProgram) -> bool:
    """Whether whatever is changed in place is seen afterwards through the change's own result alone."""
    order = {node: i for i, node in enumerate(program.graph.nodes)}
    for node in program.graph.nodes:
        target = node.target
        if not isinstance(target, torch._ops.OpOverload) or not target._schema.is_mutable:
            continue
        changed = node.args[0]
        if not isinstance(changed, torch.fx.Node) or changed.op == "placeholder" or _is_view(changed):
            return False
        if any(user is not node and (order[user] > order[node] or _is_view(user)) for user in changed.users):
            return False
    return True


def _is_view(node: torch.fx.Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return False
    name = target._schema.name.partition("::")[2]
    if name == "detach_" or name == "lift_fresh_copy":
        return False
    return name in MAY_ALIAS or any(
        r.alias_info is not None and not r.alias_info.is_write for r in target._schema.returns
    )
