"""What goes into each call of a module and what comes out of it, found from who uses what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from luthier.port.graph import Enter, Scope, Size, Step, Value

__all__ = ["connect", "givers", "leaves"]

Leaf = TypeVar("Leaf")
SYMBOL = re.compile(r"\b[a-z]+\d+\b")


def connect(scope: Scope, constants: set[Value], needed: set[Value], given: Mapping[str, Value]) -> None:
    """Find what goes into each call and what comes out of it; `needed` is what is used after the scope."""
    after = set(needed)
    unused: list[Enter] = []
    for step in reversed(scope.steps):
        if isinstance(step, Enter):
            inner = step.scope
            inner.outputs = [value for value in _made(inner) if value in after]
            connect(inner, constants, set(inner.outputs), given)
            inner.inputs = _taken(inner, constants, given)
            step.inputs, step.outputs = list(inner.inputs), list(inner.outputs)
            after |= set(inner.inputs)
            if not inner.outputs:  # nothing of it is used
                unused.append(step)
        else:
            after |= set(leaves(step.arguments, Value))
    scope.steps = [step for step in scope.steps if not any(step is one for one in unused)]


def _taken(scope: Scope, constants: set[Value], given: Mapping[str, Value]) -> list[Value]:
    """What a call uses and does not make itself; a tensor of which it needs a length alone comes in, too."""
    made = set(_made(scope))
    used = [value for step in scope.steps for value in _uses(step)]
    found = dict.fromkeys(value for value in used if value not in made and value not in constants)
    at_hand = {size.text for value in found for size in value.shape if isinstance(size, Size)}
    for step in scope.steps:
        for size in leaves(step.arguments, Size) if isinstance(step, Step) else ():
            if size.text not in at_hand:
                missing = [symbol for symbol in SYMBOL.findall(size.text) if symbol not in at_hand]
                found |= dict.fromkeys(given[symbol] for symbol in missing if symbol in given)
    order = {value: i for i, (_, value) in reversed(list(enumerate(scope.arguments)))}
    return sorted(found, key=lambda value: order.get(value, len(order)))


def _made(scope: Scope) -> Iterator[Value]:
    for step in scope.steps:
        yield from _made(step.scope) if isinstance(step, Enter) else step.outputs


def _uses(step: Step | Enter) -> Iterator[Value]:
    yield from step.inputs if isinstance(step, Enter) else leaves(step.arguments, Value)


def givers(inputs: list[Value]) -> dict[str, Value]:
    """Which of the network's inputs has a length of its own."""
    found: dict[str, Value] = {}
    for value in inputs:
        for size in value.shape:
            if isinstance(size, Size):
                found.setdefault(size.text, value)
    return found


def leaves(given: Any, kind: type[Leaf]) -> Iterator[Leaf]:
    """Whatever of this kind stands in nested tuples, lists and mappings."""
    if isinstance(given, kind):
        yield given
    elif isinstance(given, Mapping):
        for item in given.values():
            yield from leaves(item, kind)
    elif isinstance(given, tuple | list):
        for item in given:
            yield from leaves(item, kind)
