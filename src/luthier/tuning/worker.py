"""A worker: a process with one thread that trains one trial after the other, and asks after each epoch what to do."""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Protocol

import msgspec

from luthier.errors import LuthierError, StoreError
from luthier.measure import measure
from luthier.recipe import Recipe, parse
from luthier.store import Run, runs
from luthier.training import EpochEnded, EpochStarted, Evaluated, StepEnded, resume, train
from luthier.tuning.messages import Alive, Answer, Broke, Done, FromWorker, Job, Progress, Sized, decode_job
from luthier.tuning.reasons import reason
from luthier.tuning.records import Cost
from luthier.tuning.shared_data import open_shared

__all__ = ["main", "work"]

SIGN_S = 1.0  # between two signs of life


class Talk(Protocol):
    """How a worker reaches its study."""

    def say(self, message: FromWorker) -> None:
        """Send it."""

    def ask(self, message: FromWorker) -> str:
        """Send it, and wait for the decision."""

    def told_to_stop(self) -> bool:
        """Whether it is to save where it stands, without having asked."""


class Line:
    """To the study; when the study is gone, the worker ends too."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def say(self, message: FromWorker) -> None:
        """Send it."""
        self._connection.send_bytes(msgspec.json.encode(message))

    def hear(self) -> Job | Answer:
        """Wait for the next."""
        return decode_job(self._connection.recv_bytes())

    def ask(self, message: FromWorker) -> str:
        """Send it, and wait for the decision."""
        self.say(message)
        answer = self.hear()
        assert isinstance(answer, Answer)
        return answer.decision

    def told_to_stop(self) -> bool:
        """A process is told by a signal."""
        return False


def main() -> None:
    """The process: its arguments are the descriptor of the line, and of the study's lock, which it only holds."""
    with Connection(int(sys.argv[1])) as connection:
        line = Line(connection)
        try:
            line.say(Alive())
            while isinstance(job := line.hear(), Job):
                work(job, line)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return


def work(job: Job, line: Talk) -> None:
    """Whatever goes wrong with a trial is told, and the worker is ready for the next one."""
    try:
        line.say(_trained(job, line))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise
    except StoreError as error:
        line.say(Broke(reason=str(error), everywhere=True))
    except Exception as error:  # a trial's failure must not become the study's
        if not isinstance(error, LuthierError):
            traceback.print_exc()
        line.say(Broke(reason=_why(error)))


def _why(error: Exception) -> str:
    if _out_of_memory(error):
        return reason("memory")
    return str(error) if isinstance(error, LuthierError) else f"{type(error).__name__}: {error}"


def _out_of_memory(error: Exception) -> bool:
    """PyTorch says it in the words of a RuntimeError, on CPU in others than on CUDA; a network's own comes wrapped."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "allocate memory" in words


def _trained(job: Job, line: Talk) -> Done:
    recipe = parse(job.recipe, place=f"trial {job.trial}")
    os.environ["OMP_NUM_THREADS"] = "1"
    if job.measure and line.ask(Sized(cost=cost_of(recipe, job.data_root))) != "go":
        return Done(status="skipped")
    source = open_shared(Path(job.shared)) if job.shared and Path(job.shared).is_dir() else None
    listener = _Reporter(line=line)
    folder = Path(job.folder)
    there = _run_in(folder)
    if there is None:
        run = train(
            recipe,
            out=folder,
            data=source,
            data_root=job.data_root,
            listeners=[listener],
            final_evaluation=job.final,
        )
    else:
        run = resume(there, data=source, data_root=job.data_root, listeners=[listener], final_evaluation=job.final)
    result = run.result()
    assert result is not None
    status = listener.decided or ("finished" if result.status == "stopped" else result.status)
    return Done(status=status, run=run.name, accuracy=result.accuracy if job.final else None)


def _run_in(folder: Path) -> Run | None:
    found = runs(folder, on_damaged=lambda error: None) if folder.is_dir() else []
    return found[-1] if found else None


def cost_of(recipe: Recipe, data_root: str | None) -> Cost:
    """Size and latency by the score's protocol, of a network that was not trained."""
    row = measure(recipe, data_root=data_root)
    return Cost(parameters=row.parameters, size_mb=row.size_mb, latency_ms=row.latency_ms or 0.0)


@dataclass(kw_only=True)
class _Reporter:
    """Tells the study of every epoch, and does what it answers."""

    line: Talk
    decided: str = ""
    _latest: Evaluated | None = None
    _began: float = field(default_factory=perf_counter)
    _sign: float = field(default_factory=perf_counter)

    def epoch_started(self, event: EpochStarted) -> None:
        """Start the clock."""
        self._began = perf_counter()

    def step_ended(self, event: StepEnded) -> None:
        """A sign of life; where nobody hears it, the training ends with a checkpoint."""
        now = perf_counter()
        if now - self._sign > SIGN_S:
            self._sign = now
            try:
                self.line.say(Alive())
                stop = self.line.told_to_stop()
            except OSError:
                stop = True
            if stop:
                event.training.stop("the study has ended", status="interrupted")

    def evaluated(self, event: Evaluated) -> None:
        """The validation part alone counts."""
        if event.split == "validation":
            self._latest = event

    def epoch_ended(self, event: EpochEnded) -> None:
        """Report and wait; a pause or a stop takes effect once the epoch's checkpoint is on the disk."""
        if self._latest is None or self._latest.step != event.step:
            return
        training, metrics = event.training, self._latest.metrics
        report = Progress(
            epoch=event.epoch,
            epochs=-(-training.total_steps // training.steps_per_epoch),
            steps=event.step,
            accuracy=metrics.accuracy,
            loss=metrics.loss,
            seconds=perf_counter() - self._began,
        )
        decision = self.line.ask(report)
        if decision != "go" and event.step < training.total_steps:
            self.decided = {"pause": "paused", "stop": "stopped"}[decision]
            training.stop(f"the study says {decision}", status="interrupted")


if __name__ == "__main__":
    main()
