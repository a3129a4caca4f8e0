"""What a person sees while a training runs: one live line, and a line that stays for every epoch."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING

from luthier.strategy import generators_kept
from luthier.training import Throughput

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from luthier.training import EpochEnded, EpochStarted, Evaluated, RunEnded, RunStarted, StepEnded

__all__ = ["Progress", "speed_text"]

REFRESH_S = 0.5  # drawing the line takes some 3 ms of the interpreter, which the training waits for


class Progress:
    """On a terminal a bar; elsewhere, in a log file say, the lines of the epochs alone. All of it to standard error.

    rich draws from Python's random numbers, of which a resumed run would then have others.
    """

    def __init__(self) -> None:
        self._throughput = Throughput()
        self._bar: Bar | None = None
        self._drawn = 0.0
        self._evaluated = ""

    def run_started(self, event: RunStarted) -> None:
        """Open the line."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        training = event.training
        console = Console(stderr=True, highlight=False)
        session, recipe = training.session, training.recipe
        resumed = f", resumed at step {event.step}" if event.step else ""
        group = training.group
        ranks = f", {group.ranks} ranks over {group.backend}" if group.ranks > 1 else ""
        place = f"{session.engine} ({session.device}{ranks})"
        console.print(f"{recipe.name} on {place}, {training.total_steps:,} steps{resumed}")
        for note in session.notes:
            console.print(note, style="dim", soft_wrap=True)
        self._console = console
        self._throughput.run_started(event)
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=console, auto_refresh=False, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=training.total_steps, completed=event.step)

    def epoch_started(self, event: EpochStarted) -> None:
        """A new epoch has no evaluation yet."""
        self._throughput.epoch_started(event)
        self._evaluated = ""

    def step_ended(self, event: StepEnded) -> None:
        """Redraw when the last drawing is old enough; a step costs two clock readings otherwise."""
        self._throughput.step_ended(event)
        now = perf_counter()
        if self._bar is None or now - self._drawn < REFRESH_S:
            return
        self._drawn = now
        speed = speed_text(self._throughput.images_per_second or 0.0)
        text = f"epoch {event.epoch}  loss {float(event.loss):.3f}  lr {event.learning_rate:.2g}  {speed}"
        with generators_kept():  # rich numbers its links by Python's, which a user's network may draw from
            self._bar.update(self._task, completed=event.step, description=text)
            self._bar.refresh()

    def evaluated(self, event: Evaluated) -> None:
        """Shown with its epoch."""
        self._evaluated = f"  {event.split} accuracy {event.metrics.accuracy:6.2f} %"

    @generators_kept()
    def epoch_ended(self, event: EpochEnded) -> None:
        """The line that stays."""
        epochs = -(-event.training.total_steps // event.training.steps_per_epoch)
        speed = self._throughput.images_per_second
        pace = f"  {speed_text(speed)}" if speed else ""
        width = len(str(epochs))
        self._console.print(f"epoch {event.epoch:{width}}/{epochs}  loss {event.loss:.4f}{self._evaluated}{pace}")

    @generators_kept()
    def run_ended(self, event: RunEnded) -> None:
        """Give the terminal back."""
        if self._bar is not None:
            self._bar.stop()
        if skipped := event.training.data.skipped_text:
            self._console.print(skipped, soft_wrap=True, markup=False)


def speed_text(speed: float) -> str:
    """Below ten, what stands behind the point is a part of it."""
    return f"{speed:,.0f} images/s" if speed >= 10 else f"{speed:.1f} images/s"
