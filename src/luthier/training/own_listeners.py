"""The user's own listeners, named in the recipe as file.py:name."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import wraps
from types import SimpleNamespace
from typing import Any

from luthier.errors import LuthierError, RecipeError, TrainingError
from luthier.training.listeners import Heard, Listener, check_listener, methods_of
from luthier.zoo import FAULTS, beside, load_object, raised

__all__ = ["own_listeners"]


def own_listeners(names: Iterable[str]) -> list[Listener]:
    """A class is called for an object of it; a function or an object is taken as it is."""
    return [_guarded(name, _made(name)) for name in names]


def _made(name: str) -> Listener:
    found = load_object(name, at="listeners", error=RecipeError)
    if inspect.isclass(found):
        try:
            with beside(name):
                found = found()
        except FAULTS as error:  # whatever the user's code raises
            raise RecipeError(f"The listener {name} raised {raised(error)}", at="listeners") from error
    check_listener(found, at=f"listeners, {name}")
    return found


def _guarded(name: str, listener: Listener) -> Listener:
    """What it raises is told as the user's, and not as a fault of ours; a listener given in code raises as it is."""
    methods = {method: _guard(name, heard) for method, heard in methods_of(listener).items()}
    return SimpleNamespace(**methods) if methods else _guard(name, listener)


def _guard(name: str, heard: Heard) -> Heard:
    modules = beside(name)

    @wraps(heard)
    def hear(event: Any) -> None:
        try:
            with modules:
                heard(event)
        except LuthierError:
            raise
        except FAULTS as error:  # whatever the user's code raises
            step = event.training.position.step
            raise TrainingError(f"The listener {name} raised {raised(error)}", at=f"step {step}") from error

    return hear
