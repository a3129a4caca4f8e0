"""From instances to classes: one for each of the source's, with constructor arguments for what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from luthier.port.cells import Cell
from luthier.port.emit import Emit, Name
from luthier.port.graph import Module
from luthier.port.naming import Parameter, parameters_for
from luthier.port.statements import Assign
from luthier.port.trees import changed, leaves
from luthier.port.unifying import Different, Slot, shape_of, unified

__all__ = ["Class", "classes"]


@dataclass(eq=False, kw_only=True)
class Class:
    """A Cell class to be written."""

    name: str
    module: Module
    inputs: tuple[str, ...]
    members: dict[str, Any]
    body: list[Assign] | None
    parameters: list[Parameter] = field(default_factory=list)
    locals: list[tuple[str, Any]] = field(default_factory=list)
    sequential: bool = False  # the whole network is one nn.Sequential
    paths: list[str] = field(default_factory=list)
    ties: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(kw_only=True)
class _Writing:
    """The classes so far, and the expression that makes each instance."""

    root_name: str
    classes: list[Class] = field(default_factory=list)
    instances: dict[Cell, Emit] = field(default_factory=dict)

    def resolved(self, tree: Any) -> Any:
        """Cells become calls of their class."""
        return changed(tree, lambda leaf: self.instances[leaf] if isinstance(leaf, Cell) else leaf)

    def add(self, cells: list[Cell]) -> None:
        """One class of the source, or as many as its instances need."""
        for cell in cells:
            cell.members = {name: self.resolved(member) for name, member in cell.members.items()}
        waiting = cells
        while waiting:
            waiting = self._add_alike(waiting)

    def _add_alike(self, cells: list[Cell]) -> list[Cell]:
        """Those that go into one class with the fullest of them; the others are given back."""
        fullest = max(cells, key=lambda cell: (len(cell.members), len(cell.body or ())))
        together: list[Cell] = []
        others: list[Cell] = []
        for cell in cells:
            (together if _fits(cell, fullest) else others).append(cell)
        while True:
            try:
                self._write(together, fullest)
                return others
            except Different:
                others = [cell for cell in together if cell is not fullest] + others
                together = [fullest]

    def _write(self, cells: list[Cell], fullest: Cell) -> None:
        members = {
            name: unified([cell.members.get(name, Emit("nn.Identity")) for cell in cells], member=name)
            for name in fullest.members
        }
        body = None
        if fullest.body is not None:
            bodies = [cell.body if _members(cell) == _members(fullest) else fullest.body for cell in cells]
            body = [
                Assign(
                    targets=lines[0].targets,
                    value=unified([line.value for line in lines], member="", cells=False),
                    statement=lines[0].statement,
                )
                for lines in zip(*bodies, strict=True)
            ]
        made = Class(
            name=self._free_name(self.root_name if fullest.module.path == "" else fullest.module.class_name),
            module=fullest.module,
            inputs=fullest.inputs,
            members=members,
            body=body,
            paths=[cell.module.path for cell in cells],
            ties=fullest.ties,
            sequential=fullest.module.container == "sequential" and all(name.isdigit() for name in fullest.members),
        )
        arguments = parameters_for(made, [cell.module for cell in cells])
        self.classes.append(made)
        for i, cell in enumerate(cells):
            self.instances[cell] = Emit(made.name, **{name: values[i] for name, values in arguments.items()})

    def _free_name(self, name: str) -> str:
        taken = {made.name for made in self.classes}
        return next(one for one in (name, *(f"{name}{i}" for i in range(2, 10_000))) if one not in taken)


def classes(root: Cell, name: str) -> list[Class]:
    """Every class that the network needs, each after those that it uses; the network's own is the last."""
    groups: dict[Any, list[Cell]] = {}
    heights: dict[Any, int] = {}

    def visit(cell: Cell) -> int:
        height = 1 + max((visit(inner) for member in cell.members.values() for inner in _cells(member)), default=0)
        key: Any = (cell.module.identity, height) if _contains_own(cell) else cell.module.identity
        groups.setdefault(key, []).append(cell)
        heights[key] = max(heights.get(key, 0), height)
        return height

    visit(root)
    writing = _Writing(root_name=name)
    for key in _ordered(groups, heights):
        writing.add(groups[key])
    return writing.classes


def _contains_own(cell: Cell) -> bool:
    """A class that contains itself, such as a tree of blocks, is written once for each height."""
    return any(
        inner.module.identity is cell.module.identity or _contains_identity(inner, cell.module.identity)
        for member in cell.members.values()
        for inner in _cells(member)
    )


def _contains_identity(cell: Cell, identity: Any) -> bool:
    return any(
        inner.module.identity is identity or _contains_identity(inner, identity)
        for member in cell.members.values()
        for inner in _cells(member)
    )


def _ordered(groups: dict[Any, list[Cell]], heights: dict[Any, int]) -> list[Any]:
    """A class comes after every class that one of its instances holds."""
    of = {cell: key for key, cells in groups.items() for cell in cells}
    needs = {
        key: {of[inner] for cell in cells for member in cell.members.values() for inner in _cells(member)} - {key}
        for key, cells in groups.items()
    }
    done: list[Any] = []
    waiting = sorted(groups, key=lambda key: heights[key])
    while waiting:
        ready = next((key for key in waiting if needs[key] <= set(done)), waiting[0])
        done.append(ready)
        waiting.remove(ready)
    return done


def _cells(tree: Any) -> list[Cell]:
    return [leaf for leaf in leaves(tree) if isinstance(leaf, Cell)]


def _members(cell: Cell) -> set[str]:
    return {name for name, member in cell.members.items() if member != Emit("nn.Identity")}


def _fits(cell: Cell, fullest: Cell) -> bool:
    """Whether the forward passes are the same, where what the cell lacks does nothing."""
    if cell is fullest:
        return True
    if cell.inputs != fullest.inputs or (cell.body is None) != (fullest.body is None):
        return False
    lacking = _members(fullest) - _members(cell)
    if _members(cell) - _members(fullest):
        return False
    return _shape(fullest.body or [], lacking) == _shape(cell.body or [], set())


def _shape(body: Sequence[Assign], lacking: set[str]) -> list[tuple[tuple[str, ...], str]]:
    """The statements without numbers, without the calls of `lacking`, and without names that only repeat others."""
    aliases: dict[str, Any] = {}
    found = []
    for line in body:

        def without(leaf: Any) -> Any:
            match leaf:
                case Emit(target="call", args=(Emit(target="attribute", args=("self", name)), inner)) if (
                    name in lacking
                ):
                    return inner
                case Name() if leaf in aliases:
                    return aliases[leaf]
            return leaf

        value = changed(line.value, without)
        for target in line.targets:
            aliases.pop(target, None)
        if len(line.targets) == 1 and isinstance(value, Name):
            aliases[line.targets[0]] = value
        else:
            found.append((line.targets, shape_of(value)))
    return found


def slots_of(made: Class) -> list[Slot]:
    """Where its instances differ, in the order in which they stand."""
    trees = (*made.members.values(), *(line.value for line in made.body or ()))
    return [leaf for leaf in leaves(trees) if isinstance(leaf, Slot)]
