"""What a study writes down: its plan once, and a line in the journal for everything that happens."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from luthier.tuning.space import Values

__all__ = [
    "Asked",
    "Closed",
    "Cost",
    "Costed",
    "Died",
    "Ended",
    "Entry",
    "Failed",
    "Kind",
    "Opened",
    "Plan",
    "Reported",
    "Resumed",
    "State",
    "Trial",
]

Kind = Literal["search", "winner", "baseline", "ablation"]
State = Literal["running", "paused", "finished", "stopped", "skipped", "failed"]
VERSION = 1


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """study.json: how the study was asked for; with the recipe and the journal it can be repeated."""

    version: int = VERSION
    luthier: str = ""
    searcher: str = "tpe"
    scheduler: str = "halving"
    seed: int = 0
    seeds: int = 3  # trainings of the best, and of the recipe itself, for the final row
    ablate: bool = True  # put each change of the best back, one by one
    require: tuple[str, ...] = ()  # such as accuracy>=65
    objectives: tuple[str, ...] = ("score",)
    accuracy_cap: float = 100.0  # no trial is expected to reach more
    data_root: str | None = None
    hang_s: float = 600.0  # without a sign of life a trial is given up


class Cost(Struct, frozen=True, kw_only=True):
    """What is known of a network before it is trained."""

    parameters: int
    size_mb: float
    latency_ms: float


class Entry(Struct, frozen=True, kw_only=True, tag_field="event", tag=str.lower):
    """A line of the journal."""

    at: float  # seconds since 1970


class Opened(Entry, frozen=True, kw_only=True):
    """A process began to work on the study."""

    budget_s: float | None
    workers: int


class Closed(Entry, frozen=True, kw_only=True):
    """It left in good order."""

    seconds: float
    overhead_s: float  # that it took to decide and to write, of those


class Asked(Entry, frozen=True, kw_only=True):
    """A new trial."""

    trial: int
    values: Values
    kind: Kind = "search"
    label: str = ""  # the seed, or the field that was put back
    of: int | None = None  # the trial that it is a part of


class Costed(Entry, frozen=True, kw_only=True):
    """Its size and latency, before it is trained."""

    trial: int
    cost: Cost


class Reported(Entry, frozen=True, kw_only=True):
    """An epoch of it."""

    trial: int
    epoch: int
    epochs: int
    steps: int
    accuracy: float  # percent, on the validation part
    loss: float | None  # none where it was not finite
    seconds: float  # of the epoch, evaluation included


class Resumed(Entry, frozen=True, kw_only=True):
    """It goes on from its checkpoint."""

    trial: int
    by: Literal["scheduler", "study"]


class Died(Entry, frozen=True, kw_only=True):
    """The process that trained it ended; the trial is tried once more."""

    trial: int
    reason: str


class Ended(Entry, frozen=True, kw_only=True):
    """It came to its end, or is not worth going on with."""

    trial: int
    state: Literal["finished", "stopped", "skipped"]
    reason: str = ""
    run: str = ""  # its folder below the study's
    accuracy: float | None = None  # percent, on the evaluation set: of the final trainings alone


class Failed(Entry, frozen=True, kw_only=True):
    """Why it failed; the study goes on."""

    trial: int
    reason: str


AnyEntry = Opened | Closed | Asked | Costed | Reported | Resumed | Died | Ended | Failed


class Trial(Struct, kw_only=True):
    """What the journal's lines come to."""

    number: int
    values: Values
    kind: Kind = "search"
    label: str = ""
    of: int | None = None
    state: State = "running"
    reason: str = ""
    cost: Cost | None = None
    epoch: int = 0
    epochs: int = 0
    steps: int = 0
    accuracy: float | None = None  # percent, on the validation part, latest
    loss: float | None = None
    score: float | None = None  # of that accuracy
    eval_accuracy: float | None = None
    run: str = ""
    seconds: float = 0.0
    attempts: int = 1

    @property
    def progress(self) -> float:
        """The share of its training that it has come."""
        return self.epoch / self.epochs if self.epochs else 0.0


def describes(values: Values) -> str:
    """The values in a line."""
    return ", ".join(f"{path.rpartition('.')[2]} {_shown(value)}" for path, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.3g}" if isinstance(value, float) else str(value)
