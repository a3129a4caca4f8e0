"""What a port came to, in the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

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
    rows = [("operator", "uses", "how", "MindSpore", "difficulty")]
    rows += [(o.name, str(o.count), o.outcome, o.target or "–", o.difficulty) for o in report.operators]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    features = [f"{feature.name}: {feature.told}" for feature in report.features]
    return "\n".join([*table, "", *_sums(report), *features, *_refused(report)])


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
