"""Names that do not fit, as a sentence tells them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed"]


def listed(kind: str, names: Sequence[str]) -> str:
    """How many, and the first three."""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{len(names)} {kind} ({shown})" if names else f"none {kind}"
