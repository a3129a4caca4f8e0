"""What a study may change: `[space]` gives dotted paths of the recipe a range each, some on a condition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from luthier.errors import RecipeError, unknown

__all__ = ["Range", "check_ranges"]

Limits = tuple[float, float]
Whole = tuple[int, int]


class Range(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of the four, and the condition under which it is drawn at all."""

    real: Limits | None = field(default=None, name="float")  # evenly between the two
    log: Limits | None = None  # evenly in the logarithm: learning rates, widths
    integer: Whole | None = None  # both ends included
    choice: tuple[Any, ...] | None = None  # any values that the field can have
    when: dict[str, tuple[Any, ...]] = {}  # drawn only where each of these fields has one of the values

    @property
    def ends(self) -> tuple[Any, ...]:
        """The values that must be possible so that all are: the limits, or every choice."""
        return self.choice if self.choice is not None else self.limits

    @property
    def limits(self) -> tuple[float, float] | tuple[int, int]:
        """The lowest and the highest."""
        found = self.integer or self.log or self.real
        assert found is not None, "a choice has no limits"
        return found

    def holds(self, value: Any) -> bool:
        """Whether it could have been drawn."""
        if self.choice is not None:
            return value in self.choice or (isinstance(value, tuple) and list(value) in self.choice)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        low, high = self.limits
        return low <= value <= high and (self.integer is None or value == int(value))


def check_ranges(space: Mapping[str, Range], place: str) -> None:
    """Refuse what could draw nothing, or would never be drawn."""
    for path, item in space.items():
        at = f'space."{path}" in {place}'
        _check_one(item, at)
        for condition, values in item.when.items():
            if condition not in space:
                _, hint = unknown("field", condition, space)
                raise RecipeError(f"The condition asks for '{condition}', which is never drawn", at=at, hint=hint)
            if not any(space[condition].holds(value) for value in values):
                raise RecipeError(f"'{condition}' is never drawn as {_shown(values)}: the condition never holds", at=at)
    _check_circles(space, place)


def _check_one(item: Range, at: str) -> None:
    kinds = {"float": item.real, "log": item.log, "integer": item.integer, "choice": item.choice}
    given = [name for name, value in kinds.items() if value is not None]
    if len(given) != 1:
        raise RecipeError(
            f"Expected one of {', '.join(kinds)}, got {' and '.join(given) or 'none'}",
            at=at,
            hint="Such as { log = [0.001, 1.0] } or { choice = [3, 5] }.",
        )
    if item.choice is not None:
        if not item.choice:
            raise RecipeError("The range is empty: no choice is listed", at=at)
        return
    low, high = item.limits
    if low >= high:
        raise RecipeError(f"The range is empty: {low:g} is not below {high:g}", at=at)
    if item.log and low <= 0:
        raise RecipeError(f"A logarithmic range begins above 0, got {low:g}", at=at)


def _check_circles(space: Mapping[str, Range], place: str) -> None:
    for path in space:
        seen, way = {path}, list(space[path].when)
        while way:
            condition = way.pop()
            if condition == path:
                raise RecipeError("The conditions go round in a circle", at=f'space."{path}" in {place}')
            if condition not in seen:
                seen.add(condition)
                way += space[condition].when


def _shown(values: Iterable[Any]) -> str:
    return " or ".join(map(str, values))
