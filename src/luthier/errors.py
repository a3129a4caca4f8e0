"""What can go wrong, as a tree; each also inherits the builtin that a caller would catch.

LuthierError
├── RecipeError (ValueError)          a recipe, an option or an override that cannot be meant
├── DataError (ValueError)            a data set that is missing, damaged or unsuitable
│   └── MissingData                   one that is not where it was looked for
├── ModelError (ValueError)           a network that is unknown or cannot be built
├── EngineError (RuntimeError)        a framework, device or mode that is not there
├── TrainingError (RuntimeError)      a training that cannot go on
├── StoreError (OSError)              a run folder or file that cannot be read or written
│   ├── CheckpointError               a checkpoint that is damaged, foreign or not what its hash says
│   ├── RunInUse                      a run that another process is writing
│   └── UnknownRun                    a path or a name under which no run is
├── TuningError (RuntimeError)         a study that found nothing, or cannot go on
├── MeasureError (RuntimeError)       a latency or size that cannot be taken
├── ExportError (ValueError)          a network that cannot be written in the format asked for
├── PortError (ValueError)            a source that cannot be read, or an operator that cannot be carried over
├── ProofError (ValueError)           two networks that cannot be compared as asked
└── MissingPackage (ImportError)      an optional part that is not installed
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

__all__ = [
    "CheckpointError",
    "DataError",
    "EngineError",
    "ExportError",
    "LuthierError",
    "MeasureError",
    "MissingData",
    "MissingPackage",
    "ModelError",
    "PortError",
    "ProofError",
    "RecipeError",
    "RunInUse",
    "StoreError",
    "TrainingError",
    "TuningError",
    "UnknownRun",
    "nearest",
    "of_recipe",
    "unknown",
]


FIELD = re.compile(r"(data|model|score|start|strategy)\.[\w.]+|device")


class LuthierError(Exception):
    """One sentence, the place it speaks of, and on a line of its own what to do about it."""

    told_elsewhere = False  # by another rank of a training, which has the same sentence or a better one
    known_to_all = False  # every rank of a training raises it, at the same point

    def __init__(self, sentence: str, *, at: str | None = None, hint: str | None = None) -> None:
        self.sentence = sentence
        self.at = at
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f" - at {self.at}" if self.at else ""
        remedy = f"\n  {self.hint}" if self.hint else ""
        return f"{self.sentence}{place}{remedy}"

    def __reduce__(self) -> tuple[object, ...]:
        """Carry the error whole between processes: the default would lose its keyword arguments."""
        return (_rebuilt, (type(self), self.sentence, self.at, self.hint))


def _rebuilt(kind: type[LuthierError], sentence: str, at: str | None, hint: str | None) -> LuthierError:
    return kind(sentence, at=at, hint=hint)


class RecipeError(LuthierError, ValueError):
    """A recipe, an option or an override that cannot be meant."""


class DataError(LuthierError, ValueError):
    """A data set that is missing, damaged or unsuitable."""


class MissingData(DataError):
    """A data set that is not where it was looked for."""


class ModelError(LuthierError, ValueError):
    """A network that is unknown or cannot be built."""


class EngineError(LuthierError, RuntimeError):
    """A framework, device or mode that is not there."""


class TrainingError(LuthierError, RuntimeError):
    """A training that cannot go on."""


class StoreError(LuthierError, OSError):
    """A run folder or file that cannot be read or written."""


class CheckpointError(StoreError):
    """A checkpoint that is damaged, foreign or not what its hash says."""


class RunInUse(StoreError):
    """A run that another process is writing."""


class UnknownRun(StoreError):
    """A path or a name under which no run is."""


class TuningError(LuthierError, RuntimeError):
    """A study that found nothing, or cannot go on."""


class MeasureError(LuthierError, RuntimeError):
    """A latency or size that cannot be taken."""


class ExportError(LuthierError, ValueError):
    """A network that cannot be written in the format asked for."""


class PortError(LuthierError, ValueError):
    """A source that cannot be read, or an operator that cannot be carried over."""


class ProofError(LuthierError, ValueError):
    """Two networks that cannot be compared as asked."""


class MissingPackage(LuthierError, ImportError):
    """An optional part that is not installed."""


@contextmanager
def of_recipe(name: str) -> Iterator[None]:
    """What is found wrong with a field only where it is used says which recipe the field stands in."""
    try:
        yield
    except LuthierError as error:
        if error.at and FIELD.fullmatch(error.at):
            error.at = f"{error.at} in {name}"
        raise


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant, or none where nothing is near."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def unknown(kind: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    """The sentence and the hint for a name that is not known: the nearest one, or the whole list."""
    names = sorted(known)
    meant = nearest(name, names)
    hint = f"Perhaps you meant '{meant}'." if meant else f"Known: {', '.join(names) or 'none'}."
    return f"Unknown {kind} '{name}'", hint
