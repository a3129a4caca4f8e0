"""Modules out of paths: classes, containers, and what stands in the gaps of their numbering."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from luthier.port.graph import Enter, Module, Scope, Tensor

__all__ = ["Tree", "class_name", "contained"]


class Tree:
    """Makes modules as they are asked for."""

    def __init__(self, name: str, classes: Mapping[str, str]) -> None:
        self.classes = classes
        self.root = Module(path="", class_name=classes.get("") or name, identity="")
        self.known: dict[str, Module] = {"": self.root}

    def module(self, path: str) -> Module:
        """The one at this path, with those around it."""
        if path not in self.known:
            owner, _, name = path.rpartition(".")
            kind = self.classes.get(path) or class_name(path)
            made = Module(path=path, class_name=kind, identity=kind)
            self.module(owner).children[name] = made
            self.known[path] = made
        return self.known[path]

    def layer(self, path: str, kind: str, settings: dict[str, object], tensors: dict[str, Tensor], at: str) -> None:
        """Make the module a layer, unless it is one already."""
        module = self.module(path)
        if not module.kinds:
            operator = kind.rpartition(".")[2]
            module.kinds, module.arguments = (kind,), {kind: settings}
            module.tensors.update(tensors)
            module.class_name, module.identity, module.built_at = operator, operator, at


def class_name(path: str) -> str:
    """`encoder.layers.0` is a Layer, `layer1.0` a LayerBlock, `self_attn` a SelfAttn."""
    *outer, last = path.split(".")
    if last.isdigit():
        owner = next((part for part in reversed(outer) if not part.isdigit()), "")
        stem = re.sub(r"_?\d+$", "", owner)
        if not stem:
            return "Block"
        return camel(stem[:-1]) if stem.endswith("s") and not stem.endswith("ss") else f"{camel(stem)}Block"
    return camel(re.sub(r"_?\d+$", "", last) or last)


def camel(name: str) -> str:
    """`self_attn` as a class."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_") if part) or "Block"


def contained(tree: Tree, scope: Scope) -> list[tuple[str, str]]:
    """Say which modules are nothing but containers; the gaps of a chain's numbering come back, with a word on each."""
    scopes = {enter.scope.module.path: enter.scope for enter in scope.calls()} | {"": scope}
    gaps: list[tuple[str, str]] = []
    for module in list(tree.known.values()):
        numbers = [name for name in module.children if name.isdigit()]
        if not numbers or len(numbers) != len(module.children):
            continue
        own = scopes.get(module.path)
        if own is not None and _is_chain(own, module):
            module.container = "sequential"
            gaps += _filled(tree, module)
        elif own is None and module.path:
            module.container = "list"
            _filled(tree, module)
    return gaps


def _is_chain(scope: Scope, module: Module) -> bool:
    """Every child once, in order, each on what the one before gave."""
    steps = scope.steps
    if not all(isinstance(step, Enter) for step in steps) or len(scope.inputs) != 1 or len(scope.outputs) != 1:
        return False
    value = scope.inputs[0]
    numbers = []
    for step in steps:
        assert isinstance(step, Enter)
        owner, _, name = step.scope.module.path.rpartition(".")
        if owner != module.path or step.inputs != [value] or len(step.outputs) != 1:
            return False
        value = step.outputs[0]
        numbers.append(int(name))
    return value is scope.outputs[0] and numbers == sorted(set(numbers)) and len(numbers) == len(module.children)


def _filled(tree: Tree, module: Module) -> list[tuple[str, str]]:
    """What is missing in the numbering did nothing in evaluation: a dropout, or something folded into a neighbour."""
    numbers = sorted(int(name) for name in module.children)
    missing = [number for number in range(numbers[-1]) if number not in numbers]
    for number in missing:
        tree.module(f"{module.path}.{number}".lstrip("."))
    children = dict(sorted(module.children.items(), key=lambda item: int(item[0])))
    module.children.clear()
    module.children.update(children)
    told = "no node of the file stands for it: a dropout, or a normalisation that the export folded into its neighbour"
    return [(f"{module.path}.{number}".lstrip("."), told) for number in missing]


def with_label(tensor: Tensor, label: str) -> Tensor:
    """The same under the name that the code gives it."""
    return replace(tensor, label=label)
