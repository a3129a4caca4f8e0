"""What a proof found, as records with one JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

__all__ = ["Cause", "Difference", "Growth", "Place", "Rung", "Status", "Step", "Verdict", "verdict_schema"]

Status = Literal["passed", "failed", "not applicable", "not reached"]


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Frozen, named fields only."""


class Place(Record, frozen=True, kw_only=True):
    """A line of source."""

    at: str  # file:line
    text: str = ""


class Cause(Record, frozen=True, kw_only=True):
    """A trap that explains a difference; `exact` where the reference with that trap gives the candidate's numbers."""

    trap: str
    sentence: str
    hint: str
    exact: bool


class Growth(Record, frozen=True, kw_only=True):
    """How far a layer's output is off when both networks run freely, relative to the output's greatest value."""

    layer: str
    error: float
    limit: float


class Difference(Record, frozen=True, kw_only=True):
    """One layer, parameter or step that differs by more than the reference's own noise explains."""

    rung: str
    layer: str  # the module's path in the reference; empty where no layer is to blame
    what: str  # of the layer: its output, a gradient, a statistic, a step
    error: float | None = None
    limit: float | None = None
    noise: float | None = None
    sentence: str = ""
    reference: Place | None = None
    candidate: Place | None = None
    causes: tuple[Cause, ...] = ()
    growth: tuple[Growth, ...] = ()


class Rung(Record, frozen=True, kw_only=True):
    """One rung of the ladder, its figures and what differs."""

    name: str
    status: Status
    sentence: str
    figures: dict[str, Any] = {}
    differences: tuple[Difference, ...] = ()
    seconds: float = 0.0
    evidence: str = ""

    @staticmethod
    def of(name: str, told: str, figures: dict[str, Any], differences: Sequence[Difference]) -> Rung:
        """Failed by the first difference; without one passed, with what is told of it."""
        return Rung(
            name=name,
            status="failed" if differences else "passed",
            sentence=differences[0].sentence if differences else told,
            figures=figures,
            differences=tuple(differences),
        )


class Step(Record, frozen=True, kw_only=True):
    """A step of MindSpore's migration guide."""

    number: int
    name: str
    status: Literal["done", "not applicable", "failed"]
    reason: str
    evidence: tuple[str, ...] = ()


class Verdict(Record, frozen=True, kw_only=True):
    """Proven where no rung failed and at least one passed."""

    proven: bool
    reference: str
    candidate: str
    rungs: tuple[Rung, ...]
    first: Difference | None = None
    notes: tuple[str, ...] = ()
    checklist: tuple[Step, ...] = ()
    command: str = ""
    environment: dict[str, Any] = {}
    seconds: float = 0.0

    def rung(self, name: str) -> Rung:
        """By its name."""
        return next(rung for rung in self.rungs if rung.name == name)


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema of `--json` and of `verdict.json`."""
    return msgspec.json.schema(Verdict)
