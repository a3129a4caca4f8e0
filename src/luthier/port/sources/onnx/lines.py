"""Which steps share a line of the code to be: an ONNX file does not tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from luthier.port.connecting import leaves
from luthier.port.graph import Enter, Scope, Step, Value

__all__ = ["broken"]

TOGETHER = 3  # steps of a chain on one line
PLAIN = "x"


def broken(scope: Scope, constants: Collection[Value]) -> None:
    """A chain goes a few steps to a line; where two values meet, a line begins, with what is short in it."""
    uses: Counter[Value] = Counter(value for step in scope.steps for value in _used(step))
    uses.update(scope.outputs)
    maker = {value: i for i, step in enumerate(scope.steps) if len(step.outputs) == 1 for value in step.outputs}
    line: list[int] = []
    last: dict[int, int] = {}  # a line's last step
    for i, step in enumerate(scope.steps):
        real = list(dict.fromkeys(value for value in _used(step) if value not in constants))
        before = [maker[value] for value in real if value in maker and uses[value] == 1]
        ends = [j for j in before if last[line[j]] == j]
        line.append(i)
        if len(real) == 1 and ends and line.count(line[ends[0]]) < TOGETHER:
            line[i] = line[ends[0]]
        elif len(real) > 1:
            for j in ends:
                if line.count(line[j]) == 1 and line.count(i) < TOGETHER + 1:
                    line[j] = i
        last[line[i]] = i
    names = _renamed(scope, line)
    for step, number in zip(scope.steps, line, strict=True):
        if step.statement is not None:
            step.statement = replace(step.statement, line=number, targets=names.get(number, ()))
        if isinstance(step, Enter):
            broken(step.scope, constants)


def _used(step: Step | Enter) -> list[Value]:
    return step.inputs if isinstance(step, Enter) else list(leaves(step.arguments, Value))


def _renamed(scope: Scope, line: list[int]) -> dict[int, tuple[str, ...]]:
    """What is made of ids or of several inputs is not called as they are."""
    words = {value for value in scope.inputs if not value.dtype.startswith("float") or len(scope.inputs) > 1}
    found: dict[int, tuple[str, ...]] = {}
    for step, number in zip(scope.steps, line, strict=True):
        if len(step.outputs) == 1 and words & set(_used(step)):
            found[number] = (PLAIN,)
    return found
