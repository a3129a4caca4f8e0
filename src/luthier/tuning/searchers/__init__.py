"""What to try next: by chance, by a grid, one field at a time, or by Optuna's models."""

from __future__ import annotations

from luthier.errors import RecipeError, unknown
from luthier.tuning.searchers.memory import Memory
from luthier.tuning.searchers.plain import GridSearcher, OneAtATime, RandomSearcher
from luthier.tuning.searchers.protocol import Observation, Searcher
from luthier.tuning.searchers.with_optuna import OptunaSearcher
from luthier.tuning.space import Space

__all__ = [
    "SEARCHERS",
    "GridSearcher",
    "Memory",
    "Observation",
    "OneAtATime",
    "OptunaSearcher",
    "RandomSearcher",
    "Searcher",
    "make_searcher",
]

SEARCHERS = ("tpe", "gp", "nsga2", "random", "grid", "selector")


def make_searcher(name: str, space: Space, seed: int, *, objectives: int = 1) -> Searcher:
    """By its name."""
    match name:
        case "tpe" | "gp" | "nsga2":
            return OptunaSearcher(space, seed, kind=name, objectives=objectives)
        case "random":
            return RandomSearcher(space, seed)
        case "grid":
            return GridSearcher(space, seed)
        case "selector":
            return OneAtATime(space, seed)
    sentence, hint = unknown("searcher", name, SEARCHERS)
    raise RecipeError(sentence, at="--searcher", hint=hint)
