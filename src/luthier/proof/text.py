"""A verdict as a terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence

from luthier.proof.verdict import Difference, Growth, Place, Verdict

__all__ = ["verdict_text"]

MARKS = {"passed": "✓", "failed": "✗", "not applicable": "–", "not reached": "·"}
SHOWN = 7  # points of the growth


def verdict_text(verdict: Verdict) -> str:
    """A line for each rung, then the verdict; where it is not proven, the first difference with its cause."""
    width = max(len(rung.name) for rung in verdict.rungs)
    lines = [f"{MARKS[rung.status]} {rung.name:<{width}}  {rung.sentence}" for rung in verdict.rungs]
    lines += ["", *(f"Note: {note}" for note in verdict.notes)]
    if verdict.notes:
        lines.append("")
    pair = f"{verdict.candidate} is {verdict.reference}"
    if verdict.proven:
        passed = sum(rung.status == "passed" for rung in verdict.rungs)
        lines.append(f"Proven: {pair}, on {passed} rungs in {verdict.seconds:.1f} s.")
    elif verdict.first is None:
        lines.append("Not proven: no rung could be climbed.")
    else:
        lines += _difference(verdict.first)
    return "\n".join(lines)


def _difference(first: Difference) -> list[str]:
    where = f"{first.layer} differs first" if first.layer else "the networks differ"
    lines = [f"Not proven: {where}, in '{first.rung}': {first.what}"]
    if first.sentence:
        lines.append(f"  {first.sentence}")
    if first.error is not None and first.limit is not None:
        noise = f"; the reference's own noise is {first.noise:.2g}" if first.noise is not None else ""
        lines.append(f"  error {first.error:.3g}, allowed {first.limit:.3g}{noise}")
    for number, cause in enumerate(first.causes):
        sure = "" if cause.exact else " (perhaps)"
        lines.append(f"  {'cause' if number == 0 else '   or'}: {cause.sentence}{sure}")
        lines.append(f"         {cause.hint}")
    lines += _place("reference", first.reference) + _place("candidate", first.candidate)
    if first.growth:
        lines.append(f"  relative error through the network: {_growth(first.growth, first.layer)}")
    return lines


def _place(side: str, place: Place | None) -> list[str]:
    return [f"  {side}: {place.at}  {place.text}".rstrip()] if place else []


def _growth(growth: Sequence[Growth], layer: str) -> str:
    """The layer with its neighbours, and the end."""
    at = next((i for i, point in enumerate(growth) if point.layer == layer), 0)
    kept = sorted({*range(max(at - 2, 0), min(at + SHOWN - 3, len(growth))), len(growth) - 1})
    return " → ".join(f"{growth[i].layer or 'output'} {growth[i].error:.1e}" for i in kept)
