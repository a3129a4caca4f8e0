"""The study's side of its workers: processes of one thread each, a pipe to each, and what has become of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Protocol

import msgspec

from luthier.tuning.messages import Answer, FromWorker, Job, decode_message
from luthier.tuning.reasons import reason

__all__ = ["Gone", "LocalWorkers", "Workers"]

START = "from luthier.tuning.worker import main; main()"
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
PATIENCE_S = 60.0  # for a training to save where it stands, once it was told to end


class Gone(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that ended without a word."""

    reason: str


class Workers(Protocol):
    """Where trials are trained: processes here, or actors of a cluster."""

    count: int

    def begin(self, worker: int, job: Job) -> None:
        """Give an idle worker something to do."""

    def answer(self, worker: int, answer: Answer) -> None:
        """Tell a worker that waits for it."""

    def wait(self, timeout_s: float) -> list[tuple[int, FromWorker | Gone]]:
        """What has been said meanwhile."""

    def silent_s(self, worker: int) -> float:
        """How long nothing was heard of it."""

    def interrupt(self, worker: int) -> None:
        """Let it save where it stands, and end its job."""

    def kill(self, worker: int) -> None:
        """End it, whatever it does."""

    def close(self) -> None:
        """End them all in good order."""


@dataclass
class _Process:
    process: subprocess.Popen[bytes]
    line: Connection
    heard: float = field(default_factory=monotonic)


class LocalWorkers:
    """A process a core; each starts with its first job, and anew after it died."""

    def __init__(self, count: int, folder: Path, lock: int | None) -> None:
        self.count = count
        self._folder, self._lock = folder, lock
        self._processes: dict[int, _Process] = {}

    def begin(self, worker: int, job: Job) -> None:
        """Give an idle worker something to do."""
        if worker not in self._processes:
            self._processes[worker] = self._started(worker)
        self._processes[worker].heard = monotonic()
        try:
            self._processes[worker].line.send_bytes(msgspec.json.encode(job))
        except OSError:  # it died while it was idle: `wait` tells
            return

    def _started(self, worker: int) -> _Process:
        """In a session of its own: Ctrl-C is the study's to hear, and a user's script is not run a second time."""
        ours, theirs = Pipe()
        kept = [theirs.fileno(), *([self._lock] if self._lock is not None else [])]
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1"), "OMP_WAIT_POLICY": "PASSIVE"}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        with (self._folder / f"worker-{worker}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", START, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=kept,
                env=environment,
                start_new_session=True,
            )
        theirs.close()
        return _Process(process, ours)

    def answer(self, worker: int, answer: Answer) -> None:
        """Tell a worker that waits for it."""
        try:
            self._processes[worker].line.send_bytes(msgspec.json.encode(answer))
        except OSError:  # it died: `wait` tells
            return

    def wait(self, timeout_s: float) -> list[tuple[int, FromWorker | Gone]]:
        """What has been said meanwhile."""
        lines = {item.line: worker for worker, item in self._processes.items()}
        said: list[tuple[int, FromWorker | Gone]] = []
        for ready in wait(list(lines), timeout_s):
            assert isinstance(ready, Connection)
            worker = lines[ready]
            try:
                said.append((worker, decode_message(ready.recv_bytes())))
                self._processes[worker].heard = monotonic()
            except (EOFError, OSError):
                said.append((worker, Gone(reason=self._buried(worker))))
        return said

    def silent_s(self, worker: int) -> float:
        """How long nothing was heard of it."""
        return monotonic() - self._processes[worker].heard if worker in self._processes else 0.0

    def _buried(self, worker: int) -> str:
        item = self._processes.pop(worker)
        item.line.close()
        code = item.process.wait()
        if code == -signal.SIGKILL:
            return reason("killed")
        if code < 0:
            return reason("signal", signal=signal.Signals(-code).name)
        return reason("exit", code=code)

    def interrupt(self, worker: int) -> None:
        """Let it save where it stands, and end its job."""
        if worker in self._processes:
            self._processes[worker].process.terminate()

    def kill(self, worker: int) -> None:
        """End it, whatever it does; its next job finds a new process."""
        if worker in self._processes:
            self._processes[worker].process.kill()
            self._buried(worker)

    def close(self) -> None:
        """A closed line ends a worker, after the checkpoint of what it trains."""
        for item in self._processes.values():
            item.line.close()
        for item in self._processes.values():
            try:
                item.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                item.process.kill()
                item.process.wait()
        self._processes.clear()
