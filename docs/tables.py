"""Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["code", "table"]


def code(text: str) -> str:
    """As code in a cell of a table."""
    return f"`{text}`"


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{' --- |' * len(cells[0])}", *lines[1:]])
