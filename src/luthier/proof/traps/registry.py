"""The traps by name: each is a small function over what was observed, its docstring what a porter trips over."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from luthier.proof.verdict import Cause

__all__ = ["TRAPS", "Trap", "cause", "trap", "traps_of"]


@dataclass(frozen=True, kw_only=True)
class Trap:
    """`subject` is what it looks at; `functions` are those of the reference's that a variant goes through."""

    name: str
    subject: str
    function: Callable[..., Any]
    hint: str
    functions: tuple[Any, ...] = ()
    values: tuple[Any, ...] = ()

    @property
    def sentence(self) -> str:
        """The docstring's first line."""
        return (inspect.getdoc(self.function) or "").split("\n")[0]


TRAPS: list[Trap] = []


def trap(
    name: str, *functions: Any, subject: str = "layer", hint: str, values: Sequence[Any] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make it known; with `values` it is tried with each of them."""

    def known(function: Callable[..., Any]) -> Callable[..., Any]:
        TRAPS.append(
            Trap(name=name, subject=subject, function=function, hint=hint, functions=functions, values=tuple(values))
        )
        return function

    return known


def traps_of(subject: str) -> list[Trap]:
    """In the order in which they were written."""
    return [item for item in TRAPS if item.subject == subject]


def cause(item: Trap, *, exact: bool, detail: str = "") -> Cause:
    """What the verdict says of it."""
    sentence = item.sentence.removesuffix(".") + (f" ({detail})" if detail else "") + "."
    return Cause(trap=item.name, sentence=sentence, hint=item.hint, exact=exact)
