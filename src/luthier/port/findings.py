"""What became of each operator of the source."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from luthier.port.emit import Emit, Unsupported

__all__ = ["Finding", "Outcome"]

WRITTEN = {"index": "[…]", "same": "", "tuple": "(…)", "formula": "", "attribute": "."}  # what is no operator's name
Outcome = Literal["ported", "composed", "refused"]


class Finding(Struct, frozen=True, kw_only=True):
    """One use of an operator: where it stands, and how it went over."""

    path: str
    operator: str
    outcome: Outcome
    at: str = ""
    target: str = ""
    note: str = ""
    reason: str = ""
    hint: str = ""

    @staticmethod
    def of(path: str, operator: str, emit: Emit, *, at: str) -> Finding:
        """One that went over."""
        return Finding(
            path=path,
            operator=operator,
            outcome="composed" if emit.composed else "ported",
            at=at,
            target=WRITTEN.get(emit.target, emit.target.removeprefix("infix ").removeprefix("unary ")),
            note=emit.note,
        )

    @staticmethod
    def refused(path: str, operator: str, error: Unsupported) -> Finding:
        """One that did not, with the reason and a way out."""
        return Finding(
            path=path,
            operator=operator,
            outcome="refused",
            at=error.at or "",
            reason=error.sentence,
            hint=error.hint or "",
        )
