"""What a training is judged by while it runs, and when it has stopped getting better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from luthier.recipe import Stop
from luthier.training.events import EpochEnded, Evaluated, RunStarted
from luthier.training.loop import Training

__all__ = ["Best", "EarlyStopping"]


@dataclass(kw_only=True)
class Best:
    """The best epoch so far: by the validation part's accuracy, or where there is none by the mean training loss.

    The evaluation set is never asked: choosing by it would make its figure worthless. With `min_delta` it is the last
    epoch that was better by at least so much, which is what patience asks for.
    """

    value: float | None = None
    step: int | None = None
    since: int = 0  # judgements without an improvement
    min_delta: float = 0.0

    def evaluated(self, event: Evaluated) -> None:
        """A validation part decides alone."""
        if event.split == "validation":
            self._judge(event.metrics.accuracy, event.step)

    def epoch_ended(self, event: EpochEnded) -> None:
        """The training loss decides where no validation part was seen."""
        if event.training.data.validation is None:
            self._judge(-event.loss, event.step)

    def progress(self) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        return {"value": self.value, "step": self.step, "since": self.since}

    def go_on(self, progress: dict[str, Any]) -> None:
        """From what a checkpoint holds."""
        self.value, self.step, self.since = (progress[name] for name in ("value", "step", "since"))

    def _judge(self, value: float, step: int) -> None:
        if self.value is None or (value > self.value and value >= self.value + self.min_delta):
            self.value, self.step, self.since = value, step, 0
        else:
            self.since += 1


class EarlyStopping:
    """Stops after `patience` judgements in a row without an improvement of at least `min_delta`."""

    def __init__(self, stop: Stop, improved: Best) -> None:
        self._stop = stop
        self._improved = improved

    def run_started(self, event: RunStarted) -> None:
        """A run that was killed after its last checkpoint, and before it could stop, stops now."""
        self._ask(event.training)

    def epoch_ended(self, event: EpochEnded) -> None:
        """Ask after every epoch."""
        self._ask(event.training)

    def _ask(self, training: Training) -> None:
        if self._stop.patience and self._improved.since >= self._stop.patience:
            training.stop(
                f"no improvement{_of(self._stop.min_delta)} in {self._improved.since} evaluations since step "
                f"{self._improved.step}"
            )


def _of(min_delta: float) -> str:
    return f" of at least {min_delta:g}" if min_delta else ""
