"""Modules for a file that names none: what stands several times in a row is one class, and a list of its instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from luthier.port.connecting import leaves
from luthier.port.known import Known
from luthier.port.sources.onnx.flat import Node

__all__ = ["fold"]

SHORTEST = 3  # nodes that are worth a class
NAME = "blocks"


@dataclass(frozen=True, kw_only=True)
class _Run:
    """`count` times the same `period` nodes, from `start` on."""

    start: int
    period: int
    count: int

    @property
    def worth(self) -> tuple[int, int]:
        """Many rounds before long ones: a stage that stands twice is made of blocks that stand more often."""
        return self.count, self.period


def fold(nodes: Sequence[Node]) -> None:
    """Put the longest repeats into modules, as long as there are any."""
    symbols = _symbols(nodes)
    free = [True] * len(nodes)
    found: list[_Run] = []
    while (run := _best(nodes, symbols, free)) is not None:
        found.append(run)
        for i in range(run.period * run.count):
            free[run.start + i] = False
    for number, run in enumerate(sorted(found, key=lambda run: run.start), start=1):
        name = NAME if len(found) == 1 else f"stage{number}"
        for i in range(run.period * run.count):
            nodes[run.start + i].scopes = (f"{name}.{i // run.period}",)


def _symbols(nodes: Sequence[Node]) -> list[int]:
    """Equal for nodes that differ in their numbers alone."""
    known: dict[object, int] = {}
    return [
        known.setdefault((node.operator, node.kind, tuple(sorted(node.tensors)), len(node.outputs)), len(known))
        for node in nodes
    ]


def _best(nodes: Sequence[Node], symbols: Sequence[int], free: Sequence[bool]) -> _Run | None:
    ids, open_ = np.array(symbols), np.array(free)
    best: _Run | None = None
    for period in range(SHORTEST, len(nodes) // 2 + 1):
        same = (ids[:-period] == ids[period:]) & open_[:-period] & open_[period:]
        for start, length in _stretches(same):
            if length >= period and (best is None or (length // period + 1, period) > best.worth):
                found = _aligned(nodes, start, length, period)
                if found is not None and (best is None or found.worth > best.worth):
                    best = found
    return best


def _stretches(same: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """Where a run of truths begins, and how long it is."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], same.astype(np.int8), [0]))))
    return [(int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _aligned(nodes: Sequence[Node], start: int, length: int, period: int) -> _Run | None:
    """Begun where the fewest values come in from outside, and where every round is wired as the first is."""
    found: list[tuple[int, bool, int, _Run]] = []
    for shift in range(min(period, length - period + 1)):
        first = start + shift
        count = (length - shift) // period + 1
        wiring = _wiring(nodes, first, period)
        rounds = 1
        while rounds < count and _wiring(nodes, first + rounds * period, period) == wiring:
            rounds += 1
        comes_in = {source for sources in wiring for source in sources if isinstance(source, str)}
        weighted = any(nodes[first + i].tensors for i in range(period))
        if rounds > 1 and len(comes_in) == 1 and weighted:
            run = _Run(start=first, period=period, count=rounds)
            found.append((-rounds, not nodes[first].tensors, first, run))
    return min(found, key=lambda item: item[:3])[3] if found else None


def _wiring(nodes: Sequence[Node], first: int, period: int) -> list[tuple[int | str, ...]]:
    """Where each node's values come from: by their place in the round, or from outside, told apart."""
    inside = {value: i for i in range(period) for value in nodes[first + i].outputs}
    outside: dict[Known, str] = {}
    found: list[tuple[int | str, ...]] = []
    for i in range(period):
        sources: list[int | str] = []
        for value in leaves(nodes[first + i].arguments, Known):
            if value in inside:
                sources.append(inside[value])
            elif value.content is None:
                sources.append(outside.setdefault(value, f"in{len(outside)}"))
        found.append(tuple(sources))
    return found
