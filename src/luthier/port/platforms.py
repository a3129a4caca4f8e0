"""Where the target of a rule runs, as far as it was tried: MindSpore 2.10 on a CPU, in both modes."""

from __future__ import annotations

from typing import Literal

__all__ = ["Mode", "platforms_of"]

Mode = Literal["GRAPH", "PYNATIVE"]


def platforms_of(*, refused: bool, in_graph: bool) -> dict[Mode, bool]:
    """Every rule is tried in both modes by the tests, but for those that read numbers as the network runs."""
    return {"GRAPH": in_graph and not refused, "PYNATIVE": not refused}
