"""What a training leaves in the event file and in the log."""

from __future__ import annotations

from luthier.data import DataSet
from luthier.recipe import Record, to_toml
from luthier.store import EventWriter, Run
from luthier.training.events import (
    CheckpointSaved,
    EpochEnded,
    Evaluated,
    Event,
    RunEnded,
    RunStarted,
    StepEnded,
)
from luthier.training.throughput import Throughput

__all__ = ["Reading", "Recorder"]

SHOWN = (1, 3, 4)  # channels


class Recorder:
    """Writes scalars every so many steps, and the rest once an epoch; a listener may write beside it."""

    def __init__(self, run: Run, writer: EventWriter, throughput: Throughput) -> None:
        self._run = run
        self._writer = writer
        self._record: Record = run.recipe.record
        self._throughput = throughput

    def run_started(self, event: RunStarted) -> None:
        """The recipe and a look at the data, once."""
        session = event.training.session
        group = event.training.group
        began = f"resumed at step {event.step}" if event.step else "started"
        began += f" by {group.ranks} ranks over {group.backend}" if group.ranks > 1 else ""
        self._run.log("\n".join([f"{began} on {session.engine}, {session.device}", *session.notes]))
        if event.step:
            return
        self._writer.text("recipe", f"```toml\n{to_toml(self._run.recipe)}```", 0)
        if self._record.images:
            self._record_samples(event.training.data)

    def _record_samples(self, data: DataSet) -> None:
        """A picture has one channel, three, or four; of any other number the first is shown."""
        channels = data.shape[2]
        if channels not in SHOWN:
            self._run.log(f"samples show the first of {channels} channels, which no picture has")
        for number, image in enumerate(data.sample("train", self._record.images).images):
            self._writer.image(f"samples/{number:02}", image if channels in SHOWN else image[..., :1], 0)

    def step_ended(self, event: StepEnded) -> None:
        """A step that is recorded is one whose loss is waited for."""
        if event.step % self._record.every_steps == 0 or event.step == event.training.total_steps:
            event.training.read_losses()
            self._writer.scalar("train/loss", float(event.loss), event.step)
            self._writer.scalar("train/learning_rate", event.learning_rate, event.step)
            if speed := self._throughput.images_per_second:
                self._writer.scalar("train/images_per_second", speed, event.step)

    def evaluated(self, event: Evaluated) -> None:
        """Accuracy and loss, and how the weights are distributed."""
        metrics = event.metrics
        self._writer.scalar(f"{event.split}/accuracy", metrics.accuracy, event.step)
        self._writer.scalar(f"{event.split}/loss", metrics.loss, event.step)
        if metrics.top5 is not None:
            self._writer.scalar(f"{event.split}/top5", metrics.top5, event.step)
        self._run.log(f"step {event.step}: {event.split} accuracy {metrics.accuracy:.2f} %, loss {metrics.loss:.4f}")
        if self._record.histograms:
            for key, array in event.training.session.state().items():
                part, _, name = key.partition("/")
                if part == "model" and array.dtype.kind == "f":
                    self._writer.histogram(f"weights/{name}", array, event.step)

    def epoch_ended(self, event: EpochEnded) -> None:
        """The epoch's mean loss, over every step of it."""
        self._writer.scalar("train/epoch_loss", event.loss, event.step)
        self._run.log(f"epoch {event.epoch}: mean training loss {event.loss:.4f}")
        self._log_messages(event)

    def checkpoint_saved(self, event: CheckpointSaved) -> None:
        """Where it lies."""
        self._run.log(f"checkpoint {event.path.name}{', the best so far' if event.best else ''}")

    def run_ended(self, event: RunEnded) -> None:
        """Why it ended."""
        self._log_messages(event)
        if skipped := event.training.data.skipped_text:
            self._run.log(skipped)
        self._run.log(f"{event.status} at step {event.step}{': ' if event.reason else ''}{event.reason}")

    def _log_messages(self, event: Event) -> None:
        if said := event.training.session.messages():
            self._run.log("\n".join(said))


class Reading:
    """What a rank does that records nothing: it reads its losses when the first one does, and stops with it."""

    def __init__(self, record: Record) -> None:
        self._every = record.every_steps

    def step_ended(self, event: StepEnded) -> None:
        """Find a loss that is not finite at the same step."""
        if event.step % self._every == 0 or event.step == event.training.total_steps:
            event.training.read_losses()
