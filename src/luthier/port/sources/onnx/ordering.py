"""An order of the nodes in which every module's stand together, and the modules that can't be so dissolved."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from luthier.port.connecting import leaves
from luthier.port.known import Known
from luthier.port.sources.onnx.flat import Node

__all__ = ["ordered"]


def ordered(nodes: Sequence[Node]) -> list[Node]:
    """The file's order, unless it leaves a module and comes back."""
    found = list(nodes)
    if not _again(found):
        return found
    found = _scheduled(found)
    while again := _again(found):
        for node in found:
            node.scopes = tuple(path for path in node.scopes if path not in again)
    return found


def _again(nodes: Sequence[Node]) -> set[str]:
    """Modules that are left and entered once more."""
    closed: set[str] = set()
    opened: tuple[str, ...] = ()
    found: set[str] = set()
    for node in nodes:
        same = _common(node.scopes, opened)
        closed |= set(opened[same:])
        found |= {path for path in node.scopes[same:] if path in closed}
        opened = node.scopes
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _scheduled(nodes: Sequence[Node]) -> list[Node]:
    """Whatever is ready and lies deepest in the open modules comes next, the file's first among equals."""
    maker = {value: node for node in nodes for value in node.outputs}
    users: dict[int, list[Node]] = {}
    missing: dict[int, int] = {}
    for node in nodes:
        needed = {maker[value].number for value in leaves(node.arguments, Known) if value in maker}
        missing[node.number] = len(needed)
        for number in needed:
            users.setdefault(number, []).append(node)
    ready: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    by_number = {node.number: node for node in nodes}

    def add(node: Node) -> None:
        heappush(ready.setdefault(node.scopes, []), (node.number, node.number))

    for node in nodes:
        if not missing[node.number]:
            add(node)
    for heap in ready.values():
        heapify(heap)
    found: list[Node] = []
    opened: tuple[str, ...] = ()
    while ready:
        scopes = min(ready, key=lambda one: (-_common(one, opened), ready[one][0][0]))
        number, _ = heappop(ready[scopes])
        if not ready[scopes]:
            del ready[scopes]
        found.append(by_number[number])
        opened = scopes
        for user in users.get(number, ()):
            missing[user.number] -= 1
            if not missing[user.number]:
                add(user)
    return found
