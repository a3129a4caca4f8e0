"""The runtimes by name. A new one is a file in `runtimes` whose function is marked with `runs`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from luthier.errors import MeasureError, MissingPackage, RecipeError
from luthier.measure.subject import Prepared, Subject

__all__ = ["Runtime", "require_runtime", "runs", "runtime", "runtime_names"]


class Runtime(Protocol):
    """What a network can be timed in."""

    def __call__(
        self, subject: Subject, images: NDArray[np.float32], *, threads: int
    ) -> AbstractContextManager[Prepared]:
        """Normalised images in NCHW; whatever is changed in the process is put back at the end."""


_runtimes: dict[str, Runtime] = {}
_needs: dict[str, str] = {}


def runs(name: str, *, needs: str | None = None) -> Callable[[Runtime], Runtime]:
    """Mark a runtime, with the package without which it is not there: by default the one of its name."""
    if name in _runtimes:
        raise ValueError(f"A runtime named '{name}' is registered already")

    def marked(function: Runtime) -> Runtime:
        _runtimes[name], _needs[name] = function, needs or name
        return function

    return marked


@cache
def _load() -> dict[str, Runtime]:
    package = import_module("luthier.measure.runtimes")
    for module in pkgutil.iter_modules(package.__path__, "luthier.measure.runtimes."):
        import_module(module.name)
    return _runtimes


def runtime_names() -> tuple[str, ...]:
    """Every runtime that latency can be taken in."""
    return tuple(sorted(_load()))


def require_runtime(name: str) -> None:
    """Before a training that is to end with a latency in it: afterwards would be late."""
    try:
        runtime(name)
    except MeasureError as error:
        raise RecipeError(error.sentence, at=error.at, hint=f"{error.hint}, or --no-measure") from None
    if find_spec(_needs[name]) is None:
        raise MissingPackage(
            f"The runtime {name}, which the latency is to be taken in, is not installed",
            at="score.runtime",
            hint=f"pip install {_needs[name]}, or --no-measure",
        )


def runtime(name: str) -> Runtime:
    """A recipe may name one that is not here: it may have been written for another version or engine."""
    if name not in _load():
        raise MeasureError(
            f"This version of Luthier takes no latency in {name}",
            at="score.runtime",
            hint=f"Known: {', '.join(runtime_names())}. For example: --set score.runtime=onnxruntime",
        )
    return _load()[name]
