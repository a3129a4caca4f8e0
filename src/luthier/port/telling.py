"""What a port came to, in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from luthier.port.features import Feature
from luthier.port.report import Operator, Report

if TYPE_CHECKING:
    from luthier.port.porting import Ported

__all__ = ["ported_text", "report_text"]


def ported_text(done: Ported) -> str:
    """Where it is, what became of the operators, and what remains to be done by hand."""
    lines = [f"{done.folder}/{done.manifest.candidate}, {len(done.map.entries)} arrays of weights"]
    return "\n".join([*lines, *_sums(done.report), *_refused(done.report)])


def report_text(report: Report) -> str:
    """Every operator, and how it goes over."""
    rows = [("operator", "uses", "how", "MindSpore", "modes", "difficulty")]
    rows += [(o.name, str(o.count), o.outcome, o.target or "–", _modes(o), o.difficulty) for o in report.operators]
    told = [("besides operators", "how", "modes", "difficulty", "what")]
    told += [(f.name, f.outcome, _modes(f), f.difficulty, f.told) for f in report.features]
    besides = [*_table(told), ""] if report.features else []
    return "\n".join([*_table(rows), "", *besides, *_sums(report), *_refused(report)])


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _modes(item: Operator | Feature) -> str:
    """Those of GRAPH and PYNATIVE in which it runs."""
    return ", ".join(mode for mode, runs in item.modes.items() if runs) or "–"


def _sums(report: Report) -> list[str]:
    uses: Counter[str] = Counter()
    for operator in report.operators:
        uses[operator.outcome] += operator.count
    return [
        f"{len(report.operators)} operators: "
        + ", ".join(f"{uses[how]} {how}" for how in ("ported", "composed", "refused"))
    ]


def _refused(report: Report) -> list[str]:
    return [line for operator in report.operators if operator.outcome == "refused" for line in _reason(operator)]


def _reason(operator: Operator) -> list[str]:
    place = f" - at {operator.at[0]}" if operator.at and operator.at[0] else ""
    return [f"refused: {operator.reason}{place}", *([f"  {operator.hint}"] if operator.hint else [])]
