"""What can be ported of a module that `torch.export` cannot follow as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from luthier.errors import PortError
from luthier.port.emit import Unsupported
from luthier.port.graph import Enter, Module, Scope, Step, Value
from luthier.port.sources.calls import tensors
from luthier.port.sources.examples import Examples
from luthier.port.sources.exporting import explained
from luthier.port.sources.modules import dtype_name
from luthier.port.sources.parts import Part, joined, read_part

__all__ = ["salvaged"]

STUB = ("operator", "path", "reason")  # what the stub takes itself
BY_HAND = "Write its construct by hand: its parts are there."


def salvaged(module: nn.Module, records: Module, inputs: Examples, fault: PortError) -> list[Part]:
    """The whole, with a stub for its forward pass, and every module below that exports on its own.

    Their inputs are those of one real forward pass; what has the length of a batch there is open.
    """
    salvaging = _Salvaging(module=module, records=records, heard=_heard(module, inputs), batch=_batch(inputs))
    salvaging.take("", fault)
    return [*salvaging.parts[-1:], *salvaging.parts[:-1]]


def _heard(module: nn.Module, inputs: Examples) -> dict[str, Examples]:
    """What each module is first called with; a forward pass that fails here is the user's mistake."""
    found: dict[str, Examples] = {}

    def listening(path: str) -> Any:
        def note(part: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            found.setdefault(path, (args, keywords))

        return note

    named = list(module.named_modules(remove_duplicate=False))
    handles = [part.register_forward_pre_hook(listening(path), with_kwargs=True) for path, part in named]
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            module(*inputs[0], **inputs[1])
    except Exception as fault:  # whatever the user's module does
        own = explained(fault)
        sentence = f"The network cannot be run: {type(fault).__name__}: {str(fault).strip().splitlines()[0]}"
        raise PortError(sentence, at=own.at, hint="Do the inputs have the shapes that it takes?") from fault
    finally:
        for handle in handles:
            handle.remove()
    return found


def _batch(inputs: Examples) -> set[int]:
    leaves = tree_leaves(inputs)
    return {leaf.shape[0] for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.dim()}


@dataclass(kw_only=True)
class _Salvaging:
    """The parts so far: each before the module that holds it."""

    module: nn.Module
    records: Module
    heard: Mapping[str, Examples]
    batch: set[int]
    parts: list[Part] = field(default_factory=list)
    refused: list[tuple[str, str | None]] = field(default_factory=list)  # a stub's path, and the place of its fault

    def take(self, path: str, fault: PortError) -> None:
        """What is below a module, and a stub for itself."""
        record = self.records.find(path)
        for child in record.children.values():
            self._child(child)
        inner = next((name for name, place in self.refused if place == fault.at and name.startswith(path)), None)
        if inner is not None:
            hint = f"Port '{inner}' by hand first."
            fault = PortError(f"It calls '{inner}', which was not ported", at=fault.at, hint=hint)
        chain = self._chain(record) if not path and record.container == "sequential" else None
        if chain is not None:
            self.parts.append(Part(scope=chain))
        elif not path or not record.container:
            self._stub(record, fault)

    def _child(self, record: Module) -> None:
        """As a part, or in parts."""
        path = record.path
        if path not in self.heard:
            place = record.defined_at or None
            self.take(path, PortError("The example inputs never come to it", at=place, hint=BY_HAND))
            return
        inputs = self.heard[path]
        opens = tree_map(lambda leaf: (0,) if self._is_open(leaf) else None, inputs)
        try:
            self.parts.append(read_part(self.module.get_submodule(path), self.records, path, inputs, opens))
        except PortError as fault:
            self.take(path, fault)

    def _is_open(self, leaf: Any) -> bool:
        return isinstance(leaf, torch.Tensor) and leaf.dim() > 0 and leaf.shape[0] in self.batch

    def _chain(self, record: Module) -> Scope | None:
        """A sequence whose parts were read needs no forward pass of its own."""
        scopes = {part.scope.module.path: part.scope for part in self.parts}
        scope = _scope(record, self.heard)
        if len(scope.inputs) != 1:
            return None
        value = scope.inputs[0]
        for child in record.children.values():
            given, value = value, Value(name="x", shape=(), dtype=value.dtype)
            inner = scopes.get(child.path, Scope(module=child))
            scope.steps.append(Enter(scope=inner, inputs=[given], outputs=[value]))
        scope.outputs = [value]
        return scope

    def _stub(self, record: Module, fault: PortError) -> None:
        """A forward pass that raises; the module's own tensors are kept for whoever writes it."""
        scope = _scope(record, self.heard)
        self.refused.append((record.path, fault.at))
        reason = f"{record.class_name}{f' at {record.path}' if record.path else ''}: {fault.sentence}"
        out = Value(name="out", shape=(), dtype="float32")
        arguments: dict[str, Any] = {"path": record.path, "reason": fault.sentence}
        arguments |= {f"{name}_" if name in STUB else name: value for name, value in scope.arguments}
        refusal = Unsupported(reason, at=fault.at, hint=fault.hint)
        operator = f"{record.class_name}.forward"
        scope.steps.append(
            Step(operator=operator, arguments=arguments, outputs=(out,), path=record.path, refusal=refusal)
        )
        scope.outputs = [out]
        own = [replace(tensor, name=joined(record.path, name)) for name, tensor in record.tensors.items()]
        kept = {Value(name=tensor.name, shape=tensor.shape, dtype=tensor.dtype): tensor for tensor in own}
        self.parts.append(Part(scope=scope, constants=kept, called=frozenset([record.path])))


def _scope(record: Module, heard: Mapping[str, Examples]) -> Scope:
    """With the tensors that the module was given; those of one that was never called are known by name alone."""
    if record.path in heard:
        args, keywords = heard[record.path]
        pairs = [*zip(record.parameters, args, strict=False), *keywords.items()]
        named = [pair for name, given in pairs for pair in tensors(name, given)]
        arguments = [
            (name, Value(name=name, shape=tuple(item.shape), dtype=dtype_name(item.dtype))) for name, item in named
        ]
    else:
        arguments = [(name, Value(name=name, shape=(), dtype="float32")) for name in record.parameters]
    return Scope(module=record, inputs=[value for _, value in arguments], arguments=arguments)
