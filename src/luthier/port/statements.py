"""The order and the names of a forward pass's statements: the source's lines and names, as far as they go."""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from luthier.port.emit import Emit, Name, index
from luthier.port.graph import Statement, Value
from luthier.port.trees import changed, values

__all__ = ["TAKEN", "Assign", "Loop", "Made", "arranged", "looped"]

TAKEN = frozenset({"self", "ops", "nn", "ms", "mint", "Tensor", "Parameter", "OrderedDict", *keyword.kwlist})
Made = tuple[tuple[Value, ...], Any, Statement | None, bool]


@dataclass(kw_only=True)
class Assign:
    """`targets = value`; without targets it is returned."""

    targets: tuple[str, ...]
    value: Any
    statement: Statement | None = field(default=None, compare=False)

    @property
    def note(self) -> str:
        """What a rule says of it."""
        return _note(self.value)


@dataclass(kw_only=True)
class Loop:
    """`for variable in cells:` with the statements of one round."""

    variable: str
    cells: Any
    body: list[Assign]


@dataclass(kw_only=True)
class _Line:
    outputs: tuple[Value, ...]
    tree: Any
    statement: Statement | None
    several: bool
    hint: str = ""


def arranged(made: Sequence[Made], names: Mapping[Value, str], returned: Any) -> list[Assign]:
    """Inline what is used once in the line where it is made; give the rest the source's names where they are free."""
    lines = [_Line(outputs=outputs, tree=tree, statement=at, several=several) for outputs, tree, at, several in made]
    lines = _alive(lines, returned)
    lines.append(_Line(outputs=(), tree=returned, statement=_returned_at(lines), several=False))
    lines = _single(lines)
    return _named(_inlined(lines), dict(names))


def _returned_at(lines: list[_Line]) -> Statement | None:
    """With the last statement, unless that is the last round of a loop."""
    if not lines:
        return None
    if _calls_item(lines[-1].tree) and any(_calls_item(line.tree) for line in lines[:-1]):
        return Statement(file="", line=-1)
    return lines[-1].statement


def _alive(lines: list[_Line], returned: Any) -> list[_Line]:
    """What nobody uses is not written, a stub excepted."""
    needed = set(values(returned))
    kept = []
    for line in reversed(lines):
        stub = isinstance(line.tree, Emit) and line.tree.target in ("not_ported", "call")
        if needed & set(line.outputs) or (stub and not line.outputs):
            kept.append(line)
            needed |= set(values(line.tree))
    return kept[::-1]


def _single(lines: list[_Line]) -> list[_Line]:
    """Of several outputs one alone may be used: then it is taken by its index, as an expression."""
    uses = Counter(value for line in lines for value in values(line.tree))
    for line in lines:
        used = [i for i, value in enumerate(line.outputs) if uses[value]]
        if line.several and len(used) == 1:
            line.tree = index(line.tree, used[0])
            line.outputs = (line.outputs[used[0]],)
            targets = line.statement.targets if line.statement else ()
            line.hint = targets[used[0]] if used[0] < len(targets) > 1 else ""
            line.several = False
    return lines


def _inlined(lines: list[_Line]) -> list[_Line]:
    uses = Counter(value for line in lines for value in values(line.tree))
    maker = {line.outputs[0]: line for line in lines if len(line.outputs) == 1 and not line.several}
    gone: set[int] = set()

    def replace(leaf: Any, consumer: _Line) -> Any:
        if not isinstance(leaf, Value) or leaf not in maker or uses[leaf] != 1:
            return leaf
        line = maker[leaf]
        together = line.statement is None or line.statement == consumer.statement
        if _calls_item(line.tree) and _calls_item(consumer.tree):  # two rounds of a loop, on one line of the source
            return leaf
        if not together and not _is_trivial(line.tree):
            return leaf
        gone.add(id(line))
        return changed(line.tree, lambda inner: replace(inner, consumer))

    for line in reversed(lines):
        if id(line) not in gone:
            line.tree = changed(line.tree, partial(replace, consumer=line))
    return [line for line in lines if id(line) not in gone]


def _calls_item(tree: Any) -> bool:
    """Whether a cell out of a list is called: `self.blocks[0](…)`."""
    match tree:
        case Emit(target="call", args=(Emit(target="index"), *_)):
            return True
    return False


def _is_trivial(tree: Any) -> bool:
    return isinstance(tree, Value | Name)


def _named(lines: list[_Line], names: dict[Value, str]) -> list[Assign]:
    last = {value: i for i, line in enumerate(lines) for value in values(line.tree)}
    holder = {name: value for value, name in names.items()}
    found = []
    for i, line in enumerate(lines):
        tree = changed(line.tree, lambda leaf: Name(names[leaf]) if isinstance(leaf, Value) else leaf)
        if not line.outputs:
            found.append(Assign(targets=(), value=tree, statement=line.statement))
            continue
        free = _Free(holder=holder, last=last, position=i)
        wanted = line.statement.targets if line.statement else ()
        targets = []
        for k, value in enumerate(line.outputs):
            if value not in last:
                targets.append("_")
                continue
            hint = line.hint or (wanted[k] if len(wanted) == len(line.outputs) else _carried(line, names, free))
            name = free.first(hint, taken=targets)
            names[value] = name
            targets.append(name)
        holder.update({name: value for name, value in zip(targets, line.outputs, strict=True) if name != "_"})
        found.append(Assign(targets=tuple(targets), value=tree, statement=line.statement))
    return found


@dataclass(frozen=True, kw_only=True)
class _Free:
    holder: Mapping[str, Value]
    last: Mapping[Value, int]
    position: int

    def is_free(self, name: str) -> bool:
        value = self.holder.get(name)
        return name not in TAKEN and (value is None or self.last.get(value, -1) <= self.position)

    def first(self, hint: str, *, taken: Sequence[str]) -> str:
        candidates = (hint, *(f"{hint}{i}" for i in range(2, 10_000)))
        return next(name for name in candidates if name not in taken and self.is_free(name))


def _carried(line: _Line, names: Mapping[Value, str], free: _Free) -> str:
    """The name of what comes in, if that is not needed any more; else `out`."""
    for value in values(line.tree):
        return names[value] if free.is_free(names[value]) else "out"
    return "out"


def _note(tree: Any) -> str:
    if isinstance(tree, Emit):
        inner = (_note(item) for item in (*tree.args, *tree.keywords.values()))
        return tree.note or next((note for note in inner if note), "")
    if isinstance(tree, tuple):
        return next((note for note in map(_note, tree) if note), "")
    return ""


def looped(body: list[Assign], lists: Mapping[str, int]) -> list[Assign | Loop]:
    """Fold rounds over a whole list of cells into a loop; `lists` has each list's attribute and its length."""
    found: list[Assign | Loop] = []
    i = 0
    while i < len(body):
        loop, size = _loop_at(body, i, lists)
        found.append(loop or body[i])
        i += size
    return found


def _loop_at(body: list[Assign], start: int, lists: Mapping[str, int]) -> tuple[Loop | None, int]:
    for name, count in lists.items():
        if count < 2 or _item(body[start].value, name) != {0}:
            continue
        for length in range(1, 5):
            rounds = [body[start + k * length : start + (k + 1) * length] for k in range(count)]
            variable = name[:-1] if name.endswith("s") and len(name) > 2 else "cell"
            turned = [[_turned(line, name, k, variable) for line in part] for k, part in enumerate(rounds)]
            if len(turned[-1]) == length and all(part == turned[0] for part in turned) and all(turned[0]):
                return Loop(
                    variable=variable, cells=Emit("attribute", Name("self"), Name(name)), body=turned[0]
                ), count * length
    return None, 1


def _is_item(tree: Any, name: str) -> bool:
    match tree:
        case Emit(target="index", args=(Emit(target="attribute", args=("self", attribute)), int())):
            return bool(attribute == name)
    return False


def _item(tree: Any, name: str) -> set[int]:
    """Which cells of the list an expression calls."""
    if _is_item(tree, name):
        return {tree.args[1]}
    if isinstance(tree, Emit):
        return set().union(*(_item(item, name) for item in (*tree.args, *tree.keywords.values())))
    return set().union(*(_item(item, name) for item in tree)) if isinstance(tree, tuple) else set()


def _turned(line: Assign, name: str, k: int, variable: str) -> Assign:
    """One round's line with the loop's variable in place of the list's k-th cell."""
    if not line.targets:
        return Assign(targets=("return",), value=k)

    def change(leaf: Any) -> Any:
        return Name(variable) if _is_item(leaf, name) and leaf.args[1] == k else leaf

    return Assign(targets=line.targets, value=changed(line.value, change), statement=line.statement)
