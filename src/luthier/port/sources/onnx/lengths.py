"""Lengths that the file leaves open, and the arithmetic that it does on them."""

from __future__ import annotations

from typing import Any

import sympy

from luthier.port.graph import Size

__all__ = ["Lengths"]

OPEN = 2


class Lengths:
    """Every open length by its symbol, with an example that is tried where a formula does not tell."""

    def __init__(self) -> None:
        self.examples: dict[Any, int] = {}
        self.named: dict[str, Any] = {}

    def fresh(self, example: int = OPEN) -> Any:
        """A length that is nobody else's."""
        symbol = sympy.Symbol(f"s{len(self.examples)}", integer=True, positive=True)
        self.examples[symbol] = example
        self.named[str(symbol)] = symbol
        return symbol

    def called(self, name: str) -> Any:
        """The length of the file's own name, the same each time."""
        if name not in self.named:
            self.named[name] = self.fresh()
        return self.named[name]

    def text(self, length: Any) -> str:
        """As shape inference carries it along; `expression` takes it back."""
        found = str(length)
        self.named[found] = length
        return found

    def example(self, length: Any) -> int:
        """A number in its place."""
        return int(length.subs(self.examples)) if isinstance(length, sympy.Expr) else int(length)

    def size(self, length: Any) -> int | Size:
        """As the graph has it."""
        if not isinstance(length, sympy.Expr):
            return int(length)
        return int(length) if length.is_Integer else Size(text=str(length), example=self.example(length))

    def is_whole(self, length: Any) -> bool:
        """Whether it can be a length at all."""
        return isinstance(length, int) or (isinstance(length, sympy.Expr) and bool(length.is_integer))
