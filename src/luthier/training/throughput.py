"""How fast a training goes, without the first step's compilation and without evaluation."""

from __future__ import annotations

from time import perf_counter

from luthier.training.events import EpochStarted, RunStarted, StepEnded

__all__ = ["Throughput"]


class Throughput:
    """Times each epoch from its start to its last step, so that evaluation and checkpoints between epochs stay out."""

    def __init__(self, seconds_before: float = 0.0) -> None:
        self._before = seconds_before
        self._images = 0
        self._seconds = 0.0
        self._began = self._mark = self._last = 0.0
        self._first = True

    def run_started(self, event: RunStarted) -> None:
        """Start the clock of this process."""
        self._began = perf_counter()

    def epoch_started(self, event: EpochStarted) -> None:
        """Close the epoch before."""
        self._seconds += self._last - self._mark
        self._mark = self._last = perf_counter()

    def step_ended(self, event: StepEnded) -> None:
        """The first step of a process compiles and allocates: it does not count."""
        self._last = perf_counter()
        if self._first:
            self._first, self._mark = False, self._last
        else:
            self._images += event.images

    @property
    def train_seconds(self) -> float:
        """Of the whole run so far, with those of the processes before this one."""
        return self._before + perf_counter() - self._began

    @property
    def images_per_second(self) -> float | None:
        """Of all ranks together; none before the second step."""
        seconds = self._seconds + self._last - self._mark
        return self._images / seconds if self._images and seconds > 0 else None
