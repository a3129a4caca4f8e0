"""The study at work: gives jobs to workers, hears them, decides, and writes down everything before it acts on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic, perf_counter, time

from luthier.errors import LuthierError, StoreError
from luthier.recipe import Recipe, to_toml
from luthier.tuning.folder import StudyFolder
from luthier.tuning.messages import Alive, Answer, Broke, Done, FromWorker, Job, Progress, Sized
from luthier.tuning.reasons import reason
from luthier.tuning.recipes import best_recipe, cost_key, final_recipe, trial_recipe
from luthier.tuning.records import (
    Asked,
    Cost,
    Costed,
    Died,
    Ended,
    Entry,
    Failed,
    Kind,
    Reported,
    Resumed,
    Trial,
    describes,
)
from luthier.tuning.schedulers import Decision
from luthier.tuning.space import Values, value_at
from luthier.tuning.state import StudyState
from luthier.tuning.workers import Gone, Workers

__all__ = ["Coordinator", "Source", "Wanted"]

Say = Callable[[str], None]
ATTEMPTS = 2  # a trial whose process died is tried once more, from its checkpoint
TICK_S = 1.0


class Wanted:
    """A trial that is still to be begun."""

    def __init__(self, values: Values, kind: Kind = "search", label: str = "", of: int | None = None) -> None:
        self.values, self.kind, self.label, self.of = values, kind, label, of


Source = Callable[[], Wanted | int | None]


class Coordinator:
    """One thread: whatever happens comes in through `hear`, one thing after the other."""

    def __init__(self, folder: StudyFolder, state: StudyState, workers: Workers, shared: Path | None, say: Say) -> None:
        self.folder, self.state, self.workers, self.shared, self.say = folder, state, workers, shared, say
        self.busy: dict[int, int] = {}  # worker → trial
        self.overhead_s = 0.0
        self.stopping = ""
        self._costs = {self._key(trial): trial.cost for trial in state.trials.values() if trial.cost}
        self._failure: LuthierError | None = None

    def record(self, entry: Entry) -> Decision:
        """To the disk first."""
        self.folder.append(entry)
        return self.state.apply(entry)

    def run(self, source: Source, until: float | None) -> None:
        """Work off what the source gives, until it gives nothing, the time is over or somebody stops it.

        A number is a trial that goes on; the source is asked whenever a worker is idle.
        """
        interrupted = False
        while True:
            if not self.stopping and until is not None and monotonic() >= until:
                self.stopping = "the budget is used up"
            if not self.stopping:
                self._fill(source)
            elif not interrupted:
                interrupted = True
                for worker in self.busy:
                    self.workers.interrupt(worker)
            if not self.busy:
                break
            left = TICK_S if until is None or self.stopping else max(0.01, min(TICK_S, until - monotonic()))
            for worker, message in self.workers.wait(left):
                begun = perf_counter()
                self.hear(worker, message)
                self.overhead_s += perf_counter() - begun
            self._look_for_hanging()
        if self._failure:
            raise self._failure

    def _fill(self, source: Source) -> None:
        for worker in range(self.workers.count):
            while worker not in self.busy and not self.stopping:
                begun = perf_counter()
                found = source()
                if found is None:
                    return
                self._begin(worker, found)
                self.overhead_s += perf_counter() - begun

    def _begin(self, worker: int, found: Wanted | int) -> None:
        if isinstance(found, Wanted):
            number = max(self.state.trials, default=-1) + 1
            self.record(
                Asked(at=time(), trial=number, values=found.values, kind=found.kind, label=found.label, of=found.of)
            )
        else:
            number = found
            if self.state.trials[number].state != "paused":
                self.record(Resumed(at=time(), trial=number, by="study"))
            else:  # the scheduler has called it, and must not be asked again
                self.folder.append(Resumed(at=time(), trial=number, by="scheduler"))
                self.state.trials[number].state = "running"
        trial = self.state.trials[number]
        try:
            recipe = self.recipe_of(trial)
        except LuthierError as error:
            self._failed(trial, str(error))
            return
        known = trial.cost or self._costs.get(cost_key(recipe))
        if known is not None and trial.cost is None and not self._costed(trial, known):
            return
        job = Job(
            trial=number,
            recipe=to_toml(recipe),
            folder=str(self.run_folder(trial)),
            shared=str(self.shared) if self.shared else None,
            data_root=self.state.plan.data_root,
            measure=known is None,
            final=trial.kind in ("winner", "baseline"),
        )
        self.busy[worker] = number
        self.workers.begin(worker, job)

    def hear(self, worker: int, message: FromWorker | Gone) -> None:
        """One message of one worker."""
        if isinstance(message, Alive) or worker not in self.busy:
            return
        trial = self.state.trials[self.busy[worker]]
        match message:
            case Sized():
                self._costs[self._key(trial)] = message.cost
                go = self._costed(trial, message.cost)
                self.workers.answer(worker, Answer(decision="go" if go else "stop"))
            case Progress():
                self.workers.answer(worker, Answer(decision=self._progress(trial, message)))
            case Done():
                del self.busy[worker]
                self._done(trial, message)
            case Broke():
                del self.busy[worker]
                self._broke(trial, message)
            case Gone():
                del self.busy[worker]
                self._gone(trial, worker, message)

    def _costed(self, trial: Trial, cost: Cost) -> bool:
        """Whether it is worth training, now that its cost is known."""
        self.record(Costed(at=time(), trial=trial.number, cost=cost))
        why = self.state.hopeless(cost) if trial.kind == "search" and trial.number > 0 else None
        if why:
            self.record(Ended(at=time(), trial=trial.number, state="skipped", reason=why))
            self.say(f"trial {trial.number} is not trained: {why}")
        return why is None

    def _progress(self, trial: Trial, report: Progress) -> Decision:
        return self.record(
            Reported(
                at=time(),
                trial=trial.number,
                epoch=report.epoch,
                epochs=report.epochs,
                steps=report.steps,
                accuracy=report.accuracy,
                loss=report.loss,
                seconds=report.seconds,
            )
        )

    def _done(self, trial: Trial, message: Done) -> None:
        run = f"{self.run_folder(trial).relative_to(self.folder.path)}/{message.run}" if message.run else ""
        broken_off = message.status != "finished" and trial.state == "running"
        if broken_off or trial.state == "skipped":
            return  # it goes on when the study does
        if trial.state == "running":  # neither paused nor stopped by a decision, which the journal has already
            before = self.state.best()
            self.record(Ended(at=time(), trial=trial.number, state="finished", run=run, accuracy=message.accuracy))
            self._tell_finished(trial)
            if trial.kind == "search":
                self._keep_the_best(before)
        if trial.state in ("finished", "stopped") and trial is not self.state.best() and trial.kind == "search":
            self._discard_checkpoints(trial)

    def _tell_finished(self, trial: Trial) -> None:
        score = f", score {trial.score:.2f}" if trial.score is not None and trial.kind == "search" else ""
        if trial.kind == "search":
            self.say(f"trial {trial.number}: {trial.accuracy or 0:.2f} %{score}  {describes(trial.values)}")
        elif trial.eval_accuracy is not None:
            self.say(f"{trial.kind}, seed {trial.label}: {trial.eval_accuracy:.2f} % on the evaluation set")
        else:
            one = "." in trial.label
            own = describes({trial.label: value_at(self.recipe_of(trial), trial.label)}) if one else ""
            what = f"with {own}" if one else f"without any change of the {trial.label}"
            self.say(f"ablation, {what}: {trial.accuracy or 0:.2f} %")

    def _keep_the_best(self, before: Trial | None) -> None:
        best = self.state.best()
        if best is None or best is before:
            return
        recipe = best_recipe(self.state.recipe, best.values, f"{self.state.recipe.name}-best")
        self.folder.write("best.toml", to_toml(recipe))
        if before is not None:
            self._discard_checkpoints(before)

    def _discard_checkpoints(self, trial: Trial) -> None:
        """Nobody goes on with it: its curves and its result stay."""
        for run in self.run_folder(trial).glob("*/checkpoints"):
            shutil.rmtree(run, ignore_errors=True)

    def _broke(self, trial: Trial, message: Broke) -> None:
        if message.everywhere:
            self.stopping = message.reason
            sentence, _, hint = message.reason.partition("\n")
            again = f"luthier tune --resume {self.folder.path}"
            self._failure = StoreError(sentence, hint=f"Nothing is lost. Once that is mended, go on with: {again}")
            del hint
            return
        self._failed(trial, message.reason)

    def _gone(self, trial: Trial, worker: int, message: Gone) -> None:
        if self.stopping:
            return
        if trial.attempts < ATTEMPTS:
            self.record(Died(at=time(), trial=trial.number, reason=message.reason))
            self.say(f"trial {trial.number}: {message.reason}; it goes on from its last checkpoint")
            self._begin(worker, trial.number)
        else:
            self._failed(trial, message.reason)

    def _failed(self, trial: Trial, reason: str) -> None:
        self.record(Failed(at=time(), trial=trial.number, reason=reason))
        self.say(f"trial {trial.number} failed: {reason}")
        self._discard_checkpoints(trial)

    def _look_for_hanging(self) -> None:
        for worker, number in list(self.busy.items()):
            if self.workers.silent_s(worker) > self.state.plan.hang_s:
                trial = self.state.trials[number]
                trial.attempts = ATTEMPTS  # it would hang again
                self.workers.kill(worker)
                del self.busy[worker]
                self._failed(trial, reason("hung", seconds=f"{self.state.plan.hang_s:g}"))

    def run_folder(self, trial: Trial) -> Path:
        """Where its run lies."""
        return self.folder.trials / f"{trial.number:04}"

    def recipe_of(self, trial: Trial) -> Recipe:
        """What is trained."""
        base, name = self.state.recipe, f"trial-{trial.number:04}"
        if trial.kind in ("winner", "baseline"):
            return final_recipe(base, trial.values, f"{trial.kind}-seed-{trial.label}", int(trial.label))
        return trial_recipe(base, trial.values, name)

    def _key(self, trial: Trial) -> str:
        try:
            return cost_key(self.recipe_of(trial))
        except LuthierError:
            return f"trial {trial.number}"

    def broken_off(self) -> list[Wanted | int]:
        """Trials that a kill or the end of a budget broke off."""
        return [trial.number for trial in self.state.trials.values() if trial.state == "running"]
