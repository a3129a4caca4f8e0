"""A compression for people: a row for each step, and what became of it."""

from __future__ import annotations

from luthier.compress.compressing import Compression
from luthier.compress.judging import judged_text, worth_rows

__all__ = ["compression_text"]


def compression_text(done: Compression) -> str:
    """Every step was timed in turn with what it started from, so its row is not to be compared with another's."""
    from luthier.measure import aligned

    first = done.steps[0].before
    named = [("as it was", first), *((tried.step, tried.after) for tried in done.steps)]
    verdicts = ["", *("kept" if tried.kept else "refused" for tried in done.steps)]
    rows = worth_rows(named)
    table = [[*row, verdict] for row, verdict in zip(rows, ["", *verdicts], strict=True)]
    reasons = [f"{tried.step}: {tried.reason}" for tried in done.steps]
    left = f"{done.path}: {done.storage}, {done.after.file_mb:.3f} MB, of {done.run}"
    return "\n".join([aligned(table), "", *reasons, "", judged_text(done.judged, first), left])
