"""Which of the port's parameters share a weight decay and a learning rate, by patterns that a person would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from luthier.recipe import Optimizer
from luthier.strategy import ParameterInfo, groups

__all__ = ["Pattern", "patterns"]

Settings = tuple[float, float]  # weight decay, factor
Pattern = tuple[str, float, float]
LEAVES = ("*gamma", "*beta", "*bias", "*weight")


def patterns(record: Optimizer, infos: Sequence[ParameterInfo], targets: Mapping[str, str]) -> tuple[Pattern, ...]:
    """The first that matches counts; none where every parameter is plain. `targets` gives a source's name the port's.

    The recipe's own patterns are tried, then names by their last part, and for what is left over the names themselves.
    """
    wanted = {
        targets[name]: (group.weight_decay, group.learning_rate)
        for group in groups(record, infos)
        for name in group.names
    }
    if set(wanted.values()) == {(0.0, 1.0)}:
        return ()
    found = list(_shortest(wanted, [group.match for group in record.groups]))
    assert {name: _first(found, name) for name in wanted} == wanted
    return tuple(found)


def _shortest(wanted: Mapping[str, Settings], own: Sequence[str]) -> Iterator[Pattern]:
    left = dict(wanted)
    for pattern in (*own, *LEAVES, "*"):
        matched = {name for name in left if fnmatchcase(name, pattern)}
        settings = {left[name] for name in matched}
        others = {value for name, value in left.items() if name not in matched}
        if len(settings) == 1 and (pattern == "*" or settings != others):
            yield (pattern, *settings.pop())
            left = {name: value for name, value in left.items() if name not in matched}
    for name, value in left.items():
        yield (name, *value)


def _first(found: Sequence[Pattern], name: str) -> Settings:
    return next((decay, factor) for pattern, decay, factor in found if fnmatchcase(name, pattern))
