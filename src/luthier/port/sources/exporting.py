"""A module through `torch.export`, and why one does not go through it."""

from __future__ import annotations

import inspect
import logging
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from luthier.errors import PortError
from luthier.port.sources.calls import Calls
from luthier.port.sources.examples import Examples
from luthier.port.sources.inlining import inline_modes

__all__ = ["CHOICE", "explained", "exported"]

TALK = logging.getLogger("torch.fx.experimental.symbolic_shapes")
CHOICE = "The forward pass depends on the data, which no fixed graph can follow"
MAY_ALIAS = ("dropout", "feature_dropout", "alpha_dropout", "lift_fresh_copy")


def exported(module: nn.Module, inputs: Examples, opens: Examples, calls: Calls) -> ExportedProgram:
    """With open lengths where the module allows them; one of 1 would be taken for a fixed one, and is doubled."""
    values, axes = list(inputs[0]) + list(inputs[1].values()), list(opens[0]) + list(opens[1].values())
    pairs = [(value, axis) for value, axis in zip(values, axes, strict=True)]
    doubled = [_mapped(_doubled, value, axis) for value, axis in pairs]
    dynamic = [
        _mapped(lambda item, axis: dict.fromkeys(axis, Dim.AUTO) if axis else None, value, axis)
        for value, axis in pairs
    ]
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        try:
            program = _export(module, doubled, dynamic, inputs)
        except Exception:  # whatever a module cannot do with an open length
            calls.clear()
            program = _fixed(module, values, inputs)
        try:
            inline_modes(program.graph_module)
            return program if _is_pure(program) else program.run_decompositions({})
        except Exception as fault:  # whatever PyTorch cannot write without changes in place
            raise explained(fault) from fault


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch prints the graph up to a choice by the data, once for each attempt; the error says where it is."""
    was, TALK.disabled = TALK.disabled, True
    try:
        with redirect_stderr(StringIO()):
            yield
    finally:
        TALK.disabled = was


def _fixed(module: nn.Module, values: Sequence[Any], inputs: Examples) -> ExportedProgram:
    try:
        return _export(module, values, None, inputs)
    except Exception as fault:  # whatever the user's module does, and whatever torch.export cannot follow
        raise explained(fault) from fault


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


def explained(fault: Exception) -> PortError:
    """The first sentence of what PyTorch says, with the user's line where one is known."""
    kind = type(fault).__name__
    said = next((line.strip() for line in str(fault).splitlines() if line.strip()), kind)
    own = [frame for frame in _below(fault) if "site-packages" not in frame.filename and frame.filename[0] != "<"]
    at = f"{own[-1].filename}:{own[-1].lineno}" if own else None
    if "data-dependent" in str(fault).lower() or "DataDependent" in kind or "GuardOnData" in kind:
        return PortError(
            CHOICE,
            at=at,
            hint="Write the choice with torch.where, or port the parts on either side of it.",
        )
    return PortError(
        f"torch.export cannot follow it: {kind}: {said.rstrip('.')}",
        at=at,
        hint="Write it with PyTorch's own operators on tensors, or fill in the stub by hand.",
    )


def _below(fault: Exception) -> list[traceback.FrameSummary]:
    """The frames that this package called."""
    frames = list(traceback.extract_tb(fault.__traceback__))
    last = max((i for i, frame in enumerate(frames) if f"luthier{os.sep}port{os.sep}" in frame.filename), default=-1)
    return frames[last + 1 :]


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
