"""The rules by the source's operator. A new one is a function in a file of `rules`, marked with `ports`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module

from luthier.errors import nearest
from luthier.port.emit import Call, Emit, Unsupported

__all__ = ["Rule", "operators", "ports", "rule"]

Rule = Callable[[Call], Emit]

_rules: dict[str, Rule] = {}


def ports(*operators: str) -> Callable[[Rule], Rule]:
    """Mark the rule of one operator, or of several that bind the same arguments."""
    for operator in operators:
        if operator in _rules:
            raise ValueError(f"A rule for {operator} is registered already")

    def marked(function: Rule) -> Rule:
        _rules.update(dict.fromkeys(operators, function))
        return function

    return marked


@cache
def _load() -> dict[str, Rule]:
    package = import_module("luthier.port.rules")
    for module in pkgutil.iter_modules(package.__path__, "luthier.port.rules."):
        import_module(module.name)
    return _rules


def operators() -> Iterator[str]:
    """Every operator that has a rule, sorted."""
    return iter(sorted(_load()))


def rule(operator: str, *, at: str) -> Rule:
    """The rule of an operator; an unknown one names the nearest known."""
    if operator not in _load():
        short = {name.removeprefix("aten.").removesuffix(".default"): name for name in _load()}
        near = short.get(nearest(operator.removeprefix("aten.").removesuffix(".default"), short) or "")
        raise Unsupported(
            f"No rule for {operator} on MindSpore 2.10",
            at=at,
            hint=f"Nearest rule: {near}" if near else "Replace it in the source by operators that the manual lists.",
        )
    return _load()[operator]
