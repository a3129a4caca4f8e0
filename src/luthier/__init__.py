"""Take a neural network from a baseline to a tuned, ported and proven model, on PyTorch and on MindSpore.

The verbs of the command line, with the same options, and the packages behind them, each loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from luthier.compress import compress, export
    from luthier.doctor import doctor
    from luthier.measure import evaluate_run as evaluate
    from luthier.measure import measure, predict
    from luthier.port import port
    from luthier.proof import prove
    from luthier.recipe import ParamSpec, Recipe
    from luthier.store import Run, compare, open_run, runs
    from luthier.training import resume, schedule, train
    from luthier.tuning import select, tune

    __version__: str

__all__ = [
    "ParamSpec",
    "Recipe",
    "Run",
    "compare",
    "compress",
    "doctor",
    "evaluate",
    "export",
    "measure",
    "open_run",
    "port",
    "predict",
    "prove",
    "resume",
    "runs",
    "schedule",
    "select",
    "train",
    "tune",
]

_HOMES = {
    "ParamSpec": ("luthier.recipe", "ParamSpec"),
    "Recipe": ("luthier.recipe", "Recipe"),
    "Run": ("luthier.store", "Run"),
    "compare": ("luthier.store", "compare"),
    "compress": ("luthier.compress", "compress"),
    "doctor": ("luthier.doctor", "doctor"),
    "evaluate": ("luthier.measure", "evaluate_run"),
    "export": ("luthier.compress", "export"),
    "measure": ("luthier.measure", "measure"),
    "open_run": ("luthier.store", "open_run"),
    "port": ("luthier.port", "port"),
    "predict": ("luthier.measure", "predict"),
    "prove": ("luthier.proof", "prove"),
    "resume": ("luthier.training", "resume"),
    "runs": ("luthier.store", "runs"),
    "schedule": ("luthier.training", "schedule"),
    "select": ("luthier.tuning", "select"),
    "train": ("luthier.training", "train"),
    "tune": ("luthier.tuning", "tune"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":  # reading the package's metadata takes longer than all the rest of the import
        from importlib.metadata import version

        return version("luthier")
    if name in _HOMES and _HOMES[name][0] != f"luthier.{name}":
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    if name.startswith("_") or find_spec(f"luthier.{name}") is None:
        raise AttributeError(f"module 'luthier' has no attribute '{name}'")
    return import_module(f"luthier.{name}")  # a verb of the same name answers calls itself


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
