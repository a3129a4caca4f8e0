"""What became of each operator of the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from luthier.port.emit import Emit, Unsupported
from luthier.port.helpers import HELPERS, needed

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
    in_graph: bool = True  # false where a number is read out of a tensor as the network runs

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
            in_graph=not any("asnumpy()" in HELPERS[name] for name in needed(_helpers(emit))),
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


def _helpers(tree: Any) -> Iterator[str]:
    """Every function of its own that an expression needs."""
    if isinstance(tree, Emit):
        yield from tree.helpers
        for item in (*tree.args, *tree.keywords.values()):
            yield from _helpers(item)
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from _helpers(item)
