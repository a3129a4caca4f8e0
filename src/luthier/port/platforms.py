"""Where the target of a rule runs, as far as it was tried: MindSpore 2.10 on a CPU, in both modes."""

from __future__ import annotations

from typing import Literal

__all__ = ["Mode", "platforms_of"]

Mode = Literal["GRAPH", "PYNATIVE"]


def platforms_of(operator: str, *, refused: bool) -> dict[Mode, bool]:
    """Every rule is tried in both modes by the tests; a stub raises in both."""
    return {"GRAPH": not refused, "PYNATIVE": not refused}
