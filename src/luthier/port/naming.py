"""A class's constructor arguments: the source's names where they fit, few, and the usual ones with a default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any

from luthier.port.emit import Emit, Name, attribute, infix
from luthier.port.graph import Module
from luthier.port.statements import TAKEN, Assign
from luthier.port.trees import changed
from luthier.port.unifying import Slot

if TYPE_CHECKING:
    from luthier.port.classes import Class

__all__ = ["NONE", "Parameter", "parameters_for"]

NONE = object()
FACTORS = (2, 3, 4, 6, 8, 16)
Vector = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One argument of a constructor; `default` is NONE where it must be given."""

    name: str
    type: str
    default: Any = NONE


@dataclass(kw_only=True)
class _Group:
    """The places that always hold the same."""

    vector: Vector
    slots: list[Slot]
    name: str = ""
    given: bool = False
    derived: Any = None

    @property
    def default(self) -> Any:
        usual = [slot.default for slot in self.slots if slot.default is not None and slot.default in self.vector]
        return usual[0] if usual and type(usual[0]) in {type(value) for value in self.vector} else NONE


def parameters_for(made: Class, modules: Sequence[Module]) -> dict[str, Vector]:
    """Give the class its arguments; each one's value for every instance."""
    from luthier.port.classes import slots_of

    groups = _grouped(slots_of(made))
    hints = _common_hints(modules)
    _name_by_hints(groups, hints, modules[0])
    _name_by_place(groups, set(made.members) | set(made.inputs))
    _derive(groups)
    free = [group for group in groups if group.derived is None]
    _conditions(groups, free)
    free = [group for group in groups if group.derived is None]
    order = {name: i for i, name in enumerate(hints)}
    free.sort(
        key=lambda group: (group.default is not NONE, order.get(group.name, len(order)) if group.given else len(order))
    )
    made.parameters = [Parameter(name=group.name, type=_type(group.vector), default=group.default) for group in free]
    _put_in(made, groups)
    return {group.name: group.vector for group in free}


def _grouped(slots: Sequence[Slot]) -> list[_Group]:
    groups: list[_Group] = []
    for slot in slots:
        same = next((g for g in groups if _equal(g.vector, slot.values)), None)
        if same:
            same.slots.append(slot)
        else:
            groups.append(_Group(vector=slot.values, slots=[slot]))
    return groups


def _equal(one: Vector, other: Vector) -> bool:
    return all(type(a) is type(b) and a == b for a, b in zip(one, other, strict=True))


def _common_hints(modules: Sequence[Module]) -> dict[str, Vector]:
    names = [name for name in modules[0].hints if all(name in module.hints for module in modules)]
    return {name: tuple(module.hints[name] for module in modules) for name in names}


def _name_by_hints(groups: Sequence[_Group], hints: Mapping[str, Vector], module: Module) -> None:
    taken: set[str] = set()
    for name, vector in hints.items():
        for group in groups:
            if not group.name and name not in taken and name not in TAKEN and _equal(group.vector, vector):
                group.name, group.given = name, name in module.given
                taken.add(name)


def _name_by_place(groups: Sequence[_Group], members: set[str]) -> None:
    taken = {group.name for group in groups}
    for group in groups:
        if group.name:
            continue
        slot = group.slots[0]
        options = [slot.keyword or slot.member, f"{slot.member}_{slot.keyword}".strip("_")]
        options = [option for option in options if option.isidentifier()] or ["value"]
        options += [f"{options[-1]}{i}" for i in range(2, 1000)]
        held = members if any(slot.in_body for slot in group.slots) else set()  # it becomes an attribute, too
        group.name = next(option for option in options if option not in taken | held and option not in TAKEN)
        taken.add(group.name)


def _derive(groups: Sequence[_Group]) -> None:
    """A length that is always the same multiple or part of another is computed from it."""
    whole = [group for group in groups if all(type(value) is int and value > 0 for value in group.vector)]
    whole.sort(key=lambda group: not group.given)
    for base, other in permutations(whole, 2):
        if base.derived is not None or other.derived is not None or (other.given and not base.given):
            continue
        if other.given or len(set(base.vector)) == 1:
            continue
        for factor in FACTORS:
            if all(b * factor == o for b, o in zip(base.vector, other.vector, strict=True)):
                other.derived = infix("*", factor, Name(base.name))
            elif all(o * factor == b for b, o in zip(base.vector, other.vector, strict=True)):
                other.derived = infix("//", Name(base.name), factor)


def _conditions(groups: Sequence[_Group], free: Sequence[_Group]) -> None:
    """A layer that some instances lack is there on a condition that tells them apart, or where an argument says so."""
    whole = [group for group in free if all(type(value) is int for value in group.vector)]
    for group in groups:
        absent = [value == Emit("nn.Identity") for value in group.vector]
        present = [value for value in group.vector if value != Emit("nn.Identity")]
        if group.derived is not None or not any(absent) or not present or not isinstance(present[0], Emit):
            continue
        if any(value.target != present[0].target for value in present):
            continue
        condition = _condition([not gone for gone in absent], whole)
        layer = _written(present, [i for i, gone in enumerate(absent) if not gone], groups)
        if condition is not None and layer is not None:
            group.derived = Emit("if", condition, layer, Emit("nn.Identity"))


def _condition(wanted: Sequence[bool], whole: Sequence[_Group]) -> Any:
    for group in whole:
        if [value != 1 for value in group.vector] == list(wanted):
            return infix("!=", Name(group.name), 1)
    for one, other in permutations(whole, 2):
        if [a != b for a, b in zip(one.vector, other.vector, strict=True)] == list(wanted):
            return infix("!=", Name(one.name), Name(other.name))
        for factor in FACTORS:
            if [a != factor * b for a, b in zip(one.vector, other.vector, strict=True)] == list(wanted):
                return infix("!=", Name(one.name), infix("*", factor, Name(other.name)))
    return None


def _written(present: Sequence[Any], places: Sequence[int], groups: Sequence[_Group]) -> Any:
    """The layers that are there as one expression of the arguments; none where that is not possible."""
    from luthier.port.unifying import Different, unified

    try:
        tree = unified(present, member="")
    except Different:
        return None
    lost = False

    def name(leaf: Any) -> Any:
        nonlocal lost
        if not isinstance(leaf, Slot):
            return leaf
        for group in groups:
            if _equal(tuple(group.vector[i] for i in places), leaf.values):
                return Name(group.name) if group.derived is None else group.derived
        for group in groups:
            for factor in FACTORS:
                if all(type(v) is int for v in group.vector) and all(
                    group.vector[i] * factor == v for i, v in zip(places, leaf.values, strict=True)
                ):
                    return infix("*", factor, Name(group.name))
        lost = True
        return leaf

    written = changed(tree, name)
    return None if lost else written


def _put_in(made: Class, groups: Sequence[_Group]) -> None:
    """Write names in place of slots; what the forward pass needs becomes an attribute."""
    repeated = [g for g in groups if g.derived is not None and g.derived.target != "if" and len(g.slots) > 2]
    made.locals = [(group.name, group.derived) for group in repeated]
    kept: dict[str, Any] = {}
    of = {id(slot): group for group in groups for slot in group.slots}

    def change(leaf: Any) -> Any:
        if not isinstance(leaf, Slot):
            return leaf
        group = of[id(leaf)]
        written = Name(group.name) if group.derived is None or group in repeated else group.derived
        if leaf.in_body:
            kept[group.name] = written
            return attribute(Name("self"), group.name)
        return written

    made.members = {name: changed(member, change) for name, member in made.members.items()}
    if made.body is not None:
        made.body = [
            Assign(targets=line.targets, value=changed(line.value, change), statement=line.statement)
            for line in made.body
        ]
    made.members = {name: value for name, value in kept.items() if name not in made.members} | made.members


def _type(vector: Vector) -> str:
    kinds = {type(value) for value in vector}
    if kinds == {Emit}:
        return "nn.Cell"
    if kinds <= {int, float}:
        return "float" if float in kinds else "int"
    names = sorted("None" if kind is type(None) else kind.__name__ for kind in kinds if kind is not Emit)
    return " | ".join([*(["nn.Cell"] if Emit in kinds else []), *names])
