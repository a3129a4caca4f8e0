"""Several runs side by side: what was done differently, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from luthier.recipe import differences
from luthier.store.result import Result
from luthier.store.run import Run

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One value a run under each dotted name; None where a run lacks it."""

    runs: tuple[str, ...]
    recipe: dict[str, list[Any]]  # the fields that are not the same in all runs, and no others
    result: dict[str, list[Any]]  # the same of what came out

    def as_table(self) -> list[list[str]]:
        """A row of names, then one row a field, as text."""
        rows = [*self.recipe.items(), *self.result.items()]
        return [["", *self.runs], *([name, *map(_text, values)] for name, values in rows)]


def compare(runs: Sequence[Run]) -> Comparison:
    """The runs in the order given."""
    return Comparison(
        runs=tuple(run.name for run in runs),
        recipe=differences([run.recipe for run in runs]),
        result=_results([run.result() for run in runs]),
    )


def _results(results: Sequence[Result | None]) -> dict[str, list[Any]]:
    flat = [{} if result is None else _flat(result) for result in results]
    names = dict.fromkeys(name for fields in flat for name in fields)
    rows = {name: [fields.get(name) for fields in flat] for name in names}
    return {name: row for name, row in rows.items() if name != "name" and any(value != row[0] for value in row)}


def _flat(result: Result) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in msgspec.to_builtins(result).items():
        if isinstance(value, dict):
            fields |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            fields[name] = value
    return fields


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
