"""When a training's whole state goes to disk, and what it consists of."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from msgspec import json

from luthier.engines import Arrays
from luthier.store import EventWriter, Run, prune_checkpoints, save_checkpoint
from luthier.training.events import CheckpointSaved, EpochEnded, RunEnded, RunStarted, StepEnded
from luthier.training.loop import Training
from luthier.training.stopping import Best
from luthier.training.throughput import Throughput
from luthier.training.together import first, of_the_others

__all__ = ["Checkpointer", "LastCheckpoint"]


class Checkpointer:
    """Saves by epochs or by steps, whenever an epoch was the best so far, and at an end that comes early."""

    def __init__(self, run: Run, writer: EventWriter, best: Best, improved: Best, throughput: Throughput) -> None:
        self._run = run
        self._writer = writer
        self._best = best
        self._improved = improved
        self._throughput = throughput
        self._saved = 0

    def run_started(self, event: RunStarted) -> None:
        """What a resume starts from is on disk already."""
        self._saved = event.step

    def step_ended(self, event: StepEnded) -> None:
        """A step that ends an epoch, or the run, is saved after its evaluation."""
        every, training = self._run.recipe.checkpoint.every_steps, event.training
        ends = event.step % training.steps_per_epoch == 0 or event.step == training.total_steps
        if every and event.step % every == 0 and not ends:
            self._save(training)

    def epoch_ended(self, event: EpochEnded) -> None:
        """The last epoch is always saved."""
        checkpoint = self._run.recipe.checkpoint
        if checkpoint.every_steps:
            due = event.step % checkpoint.every_steps == 0
        else:
            due = bool(checkpoint.every_epochs) and event.epoch % checkpoint.every_epochs == 0
        if due or event.step == event.training.total_steps or self._best.step == event.step:
            self._save(event.training)

    def save_the_end(self, event: RunEnded) -> None:
        """A stop or an interruption loses nothing; after a failure the state is not worth keeping."""
        if event.status in ("stopped", "interrupted") and event.step > self._saved:
            self._save(event.training)

    def _save(self, training: Training) -> None:
        training.read_losses()
        step = training.position.step
        whole = training.session.state()
        others = of_the_others(training.group, whole)
        path = Path(first(training.group, lambda: str(self._written(training, whole | others))))
        self._saved = step
        training.tell(CheckpointSaved(training=training, step=step, path=path, best=self._best.step == step))

    def _written(self, training: Training, whole: Arrays) -> Path:
        """By the first rank."""
        step = training.position.step
        weights, state = _split(whole)
        progress = {
            "position": asdict(training.position),
            "best": self._best.progress(),
            "improved": self._improved.progress(),
            "train_seconds": self._throughput.train_seconds,
            "event_length": self._writer.flush(),
            "data": json.decode(json.encode(training.data.description)),
        }
        path = save_checkpoint(self._run, step, weights, state, progress)
        prune_checkpoints(self._run, keep=self._run.recipe.checkpoint.keep, best=self._best.step)
        return path


class LastCheckpoint:
    """Listens before everyone else, so that the run's end is the last that they hear.

    What they write at an interruption is not part of the checkpoint: the resumed run writes it at its own end.
    """

    def __init__(self, checkpointer: Checkpointer) -> None:
        self._checkpointer = checkpointer

    def run_ended(self, event: RunEnded) -> None:
        """Save where the run stands."""
        self._checkpointer.save_the_end(event)


def _split(state: Arrays) -> tuple[Arrays, Arrays]:
    """`weights` is the model as evaluation uses it: its moving average, where it has one."""
    part = "average/" if any(key.startswith("average/") for key in state) else "model/"
    weights = {key.removeprefix(part): array for key, array in state.items() if key.startswith(part)}
    return weights, {key: array for key, array in state.items() if not key.startswith(part)}
