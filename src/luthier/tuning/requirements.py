"""What a result must satisfy: `accuracy>=65`, `size_mb<=0.5`, `latency_ms<=1`, `parameters<=100000`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from luthier.errors import RecipeError, unknown
from luthier.tuning.records import Cost

__all__ = ["Requirement", "parse_requirement"]

METRICS = ("accuracy", "latency_ms", "parameters", "size_mb")
FORM = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Requirement:
    """One limit on one figure."""

    metric: str
    least: bool  # at least the limit, or at most
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{'>=' if self.least else '<='}{self.limit:g}"

    def misses_by(self, cost: Cost | None, accuracy: float | None) -> float:
        """The share of the limit by which it is missed; 0 where it is met, or nothing is known yet."""
        value = accuracy if self.metric == "accuracy" else getattr(cost, self.metric, None)
        if value is None:
            return 0.0
        miss = self.limit - value if self.least else value - self.limit
        return float(max(0.0, miss / max(abs(self.limit), 1e-9)))


def parse_requirement(text: str) -> Requirement:
    """From the text that a user writes."""
    found = FORM.fullmatch(text)
    try:
        limit = float(found[3]) if found else None
    except ValueError:
        limit = None
    if found is None or limit is None:
        raise RecipeError(f"Expected a limit such as accuracy>=65, got '{text}'", at="--require")
    if found[1] not in METRICS:
        sentence, hint = unknown("figure", found[1], METRICS)
        raise RecipeError(sentence, at="--require", hint=hint)
    return Requirement(metric=found[1], least=found[2] == ">=", limit=limit)
