"""The loop: data → step → events. Whatever else happens in a training is a listener."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import SupportsFloat

from luthier.data import DataSet
from luthier.engines import Alone, Group, NonFinite, Session, not_finite
from luthier.errors import TrainingError
from luthier.recipe import Recipe
from luthier.store import EventWriter
from luthier.strategy import generators_kept, learning_rates
from luthier.training.evaluation import Metrics, evaluate, evaluate_together
from luthier.training.events import (
    Ending,
    EpochEnded,
    EpochStarted,
    Evaluated,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
)
from luthier.training.listeners import Listener, Listeners
from luthier.training.together import gathered, shown_by

__all__ = ["Position", "Training"]


@dataclass(kw_only=True)
class Position:
    """How far a training has come; with the session's state it is all that a continuation needs."""

    step: int = 0
    loss_sum: float = 0.0  # over the steps of the current epoch
    loss_count: int = 0


@dataclass(kw_only=True)
class Training:
    """One process's share of a run, from its position to the end or to `stop`."""

    recipe: Recipe
    session: Session
    data: DataSet
    writer: EventWriter  # a listener may write scalars, histograms, images, text and tensors of its own
    position: Position = field(default_factory=Position)
    group: Group = field(default_factory=Alone)

    def __post_init__(self) -> None:
        self.steps_per_epoch = self.data.train.steps
        self.rates = learning_rates(self.recipe.strategy, self.steps_per_epoch).tolist()
        self.total_steps = len(self.rates)
        self._stop: tuple[Ending, str] | None = None
        self._asked: tuple[Ending, str] | None = None
        self._unread: list[tuple[int, SupportsFloat]] = []
        self.tell = Listeners(()).tell

    @property
    def epoch(self) -> int:
        """The epoch of the latest step, from 1; 0 before the first."""
        return -(-self.position.step // self.steps_per_epoch)

    def stop(self, reason: str, status: Ending = "stopped") -> None:
        """End after the current step, in good order; of several ranks any may ask, and all end after the next one."""
        self._asked = (status, reason)
        self.group.asks_to_stop = True
        if self.group.ranks == 1:
            self._stop = self._asked

    def run(self, listeners: Iterable[Listener] = ()) -> RunEnded:
        """Train to the end, and tell the listeners everything on the way."""
        heard = Listeners(listeners)
        self.tell = heard.tell
        try:
            with generators_kept():  # a process that resumes tells it once more
                heard.tell(RunStarted(training=self, step=self.position.step))
            self._agree()
            while self.position.step < self.total_steps and not self._stop:
                self._epoch(heard)
        except BaseException as error:
            self._tell_failure(heard, error)
            raise
        status, reason = self._stop or ("finished", "")
        ended = RunEnded(training=self, step=self.position.step, status=status, reason=reason)
        heard.tell(ended)
        return ended

    def _tell_failure(self, heard: Listeners, error: BaseException) -> None:
        """A listener that cannot bear it (its disk is full, say) must not hide what went wrong first."""
        reason = str(error) or type(error).__name__
        try:
            heard.tell(RunEnded(training=self, step=self.position.step, status="failed", reason=reason))
        except Exception as further:
            error.add_note(f"A listener failed at the run's end besides: {further!r}")

    def _epoch(self, heard: Listeners) -> None:
        """The rest of the epoch that the position stands in."""
        index, start = divmod(self.position.step, self.steps_per_epoch)
        if start == 0:
            self.position.loss_sum, self.position.loss_count = 0.0, 0
        with generators_kept() if start else nullcontext():
            heard.tell(EpochStarted(training=self, epoch=index + 1))
        self._steps(heard, index, start)
        complete = self.position.step == min((index + 1) * self.steps_per_epoch, self.total_steps)
        if complete:
            loss = self.read_losses()
            if self._evaluates_after(index + 1):
                self._evaluate(heard, index + 1)
            heard.tell(EpochEnded(training=self, step=self.position.step, epoch=index + 1, loss=loss))
            self._agree()

    def _steps(self, heard: Listeners, index: int, start: int) -> None:
        starts, ends = heard.wants(StepStarted), heard.wants(StepEnded)
        step, images = self.position.step, self.data.train.images_per_step
        for batch in self.data.train.epoch(index, start):
            rate = self.rates[step]
            step += 1
            if starts:
                heard.tell(StepStarted(training=self, step=step, epoch=index + 1))
            try:
                loss = self.session.step(batch, rate)
            except NonFinite as fault:
                raise self._diverged(fault, step, rate) from None
            self.position.step = step
            self._unread.append((step, loss))
            if self.group.stop_was_asked:
                self._agree()
            if ends:
                heard.tell(
                    StepEnded(training=self, step=step, epoch=index + 1, loss=loss, learning_rate=rate, images=images)
                )
            if self._stop or step == self.total_steps:
                return

    def read_losses(self) -> float:
        """The epoch's mean loss so far; reads every loss that is still unread, and finds one that is not finite."""
        for step, lazy in self._unread:
            loss = float(lazy)
            if loss - loss != 0.0:
                raise self._diverged(NonFinite(loss, None, not_finite(lazy)), step, self.rates[step - 1])
            self.position.loss_sum += loss
            self.position.loss_count += 1
        self._unread.clear()
        return self.position.loss_sum / max(self.position.loss_count, 1)

    def _evaluates_after(self, epoch: int) -> bool:
        every = self.recipe.record.evaluate_every_epochs
        return self.position.step == self.total_steps or (every > 0 and epoch % every == 0)

    def _evaluate(self, heard: Listeners, epoch: int) -> None:
        split = "validation" if self.data.validation else "eval"
        metrics = self.evaluate_together(split)
        heard.tell(Evaluated(training=self, step=self.position.step, epoch=epoch, split=split, metrics=metrics))

    def evaluate(self, split: str) -> Metrics:
        """The network as it is now, on a part of the data, all of it on this rank: any may ask at any time."""
        return evaluate(self.session.logits, self.data.split(split).of_all_ranks())

    def evaluate_together(self, split: str) -> Metrics:
        """The same by all ranks, each of which must ask."""
        return evaluate_together(self.session.logits, self.data.split(split), self.group)

    def _agree(self) -> None:
        """Whether to stop, and why: the same on every rank."""
        if self.group.ranks > 1:
            wishes = [wish for wish in gathered(self.group, self._asked) if wish]
            self._stop = (wishes[0][0], wishes[0][1]) if wishes else None

    def _diverged(self, fault: NonFinite, step: int, rate: float) -> Exception:
        where = f"; the first gradient that is not finite: {fault.parameter}" if fault.parameter else ""
        ranks = f" on rank {' and '.join(map(str, fault.ranks))}" if fault.ranks else ""
        error = TrainingError(
            f"The loss is {fault.loss}{ranks} at step {step}, learning rate {rate:g}{where}",
            hint="Try a lower strategy.learning_rate, a warm-up (strategy.schedule.warmup_epochs) or "
            "strategy.clip_norm.",
        )
        return shown_by(self.group, error)
