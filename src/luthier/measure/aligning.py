"""Rows of text as aligned columns; a Chinese character is two columns wide in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

__all__ = ["aligned", "markdown"]


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """The first `left` columns flush left, the others right, as numbers are."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            _padded(cell, width, left=index < left) for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """The same as a table whose first row is its head."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---" if index < left else "---:" for index in range(len(rows[0]))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [escaped[0], rule, *escaped[1:]])


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
