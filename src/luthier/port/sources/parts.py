"""A module, or one below it, as a graph of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import nn

from luthier.port.graph import Module, Scope, Tensor, Value
from luthier.port.sources.calls import noted_calls
from luthier.port.sources.examples import Examples
from luthier.port.sources.exporting import exported
from luthier.port.sources.tracing import folded

__all__ = ["Part", "joined", "read_part"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Its names are those of the whole; `arrays` are the constants of the source's code."""

    scope: Scope
    constants: dict[Value, Tensor] = field(default_factory=dict)
    arrays: dict[str, torch.Tensor] = field(default_factory=dict)
    called: frozenset[str] = frozenset()  # the paths of the modules that were called, whether they do something or not


def read_part(module: nn.Module, records: Module, path: str, inputs: Examples, opens: Examples) -> Part:
    """The module at this path of the whole."""
    with noted_calls(module) as calls:
        program = exported(module, inputs, opens, calls)
    found = folded(program, records.find(path), calls)
    return Part(
        scope=found.scope,
        constants={value: replace(tensor, name=joined(path, tensor.name)) for value, tensor in found.constants.items()},
        arrays={
            joined(path, tensor.name): program.constants[tensor.name]
            for tensor in found.constants.values()
            if tensor.name in program.constants
        },
        called=frozenset(joined(path, name) for name in calls),
    )


def joined(path: str, name: str) -> str:
    """A name below a path."""
    return f"{path}.{name}" if path and name else path or name
