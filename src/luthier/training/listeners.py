"""Who listens to the loop: a function of every event, or an object with methods named for the events it wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any

from luthier.errors import RecipeError, nearest
from luthier.training.events import (
    CheckpointSaved,
    EpochEnded,
    EpochStarted,
    Evaluated,
    Event,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)

__all__ = ["METHODS", "Heard", "Listener", "Listeners", "check_listener", "methods_of"]

Listener = Any  # a callable of one event, or an object with any of METHODS: Python's types have no word for "any of"
Heard = Callable[[Any], object]

EVENTS = (RunStarted, EpochStarted, StepStarted, StepEnded, Evaluated, EpochEnded, CheckpointSaved, RunEnded)
METHODS = {re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower(): event for event in EVENTS}
MISSPELT = 0.87  # how alike a name must be: "step_end" and "evaluate" are, "evaluated_at" is not


class Listeners:
    """Told in the order in which they were given."""

    def __init__(self, listeners: Iterable[Listener]) -> None:
        self._heard: dict[type[Event], list[Heard]] = {event: [] for event in EVENTS}
        for listener in listeners:
            check_listener(listener)
            function: Heard = listener
            for name, heard in (methods_of(listener) or dict.fromkeys(METHODS, function)).items():
                self._heard[METHODS[name]].append(heard)

    def wants(self, event: type[Event]) -> bool:
        """Whether anybody listens to it: what nobody hears need not be made."""
        return bool(self._heard[event])

    def tell(self, event: Event) -> None:
        """Tell everyone who wants to know."""
        for heard in self._heard[type(event)]:
            heard(event)


def methods_of(listener: Listener) -> dict[str, Heard]:
    """Its methods that an event is named for; none where it is a function of every event."""
    return {name: method for name in METHODS if callable(method := getattr(listener, name, None))}


def check_listener(listener: Listener, at: str | None = None) -> None:
    """Refuse what would hear nothing, or miss an event for a letter: better now than after a night's training."""
    if not methods_of(listener):
        if not callable(listener):
            raise _deaf(listener, at)
        return
    for name in dir(listener):
        if name.startswith("_") or name in METHODS or not callable(getattr(listener, name, None)):
            continue
        if meant := get_close_matches(name.removeprefix("on_"), METHODS, n=1, cutoff=MISSPELT):
            raise RecipeError(
                f"A listener of type {type(listener).__name__} has a method '{name}', which no event is named for",
                at=at,
                hint=f"Perhaps you meant '{meant[0]}'. A method of your own may begin with '_'.",
            )


def _deaf(listener: Listener, at: str | None) -> RecipeError:
    names = [name for name in dir(listener) if not name.startswith("_")]
    meant = next(((name, near) for name in names if (near := nearest(name, METHODS))), None)
    hint = f"Perhaps '{meant[0]}' means '{meant[1]}'." if meant else f"Known: {', '.join(METHODS)}."
    return RecipeError(
        f"A listener of type {type(listener).__name__} has no method named for an event", at=at, hint=hint
    )
