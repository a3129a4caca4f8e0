"""A package that is a verb too: `luthier.measure(run)` beside `luthier.measure.text_table(rows)`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


class Verb(ModuleType):
    """Calls the function of its own name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        verb = self.__name__.rpartition(".")[2]
        return getattr(self, verb)(*args, **kwargs)


def make_callable(package: str) -> None:
    """Python sets `luthier.measure` to the package as soon as anything imports it; so the package answers the call."""
    sys.modules[package].__class__ = Verb
