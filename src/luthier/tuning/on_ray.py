"""Workers as actors of a Ray cluster, or of a Ray on this machine: the same jobs, the same words, another way there."""

from __future__ import annotations

from time import monotonic, sleep
from typing import Any

import msgspec

from luthier.errors import MissingPackage, RecipeError
from luthier.tuning.messages import Alive, Answer, FromWorker, Job, decode_job, decode_message
from luthier.tuning.reasons import reason
from luthier.tuning.workers import Gone

__all__ = ["RayWorkers"]

POLL_S = 0.02


class QueueLine:
    """A worker's side: queues in place of a pipe."""

    def __init__(self, worker: int, said: Any, answers: Any) -> None:
        self._worker, self._said, self._answers = worker, said, answers

    def say(self, message: FromWorker) -> None:
        """Send it."""
        self._said.put((self._worker, msgspec.json.encode(message)))

    def hear(self) -> Job | Answer:
        """Wait for the next."""
        return decode_job(self._answers.get())

    def ask(self, message: FromWorker) -> str:
        """Send it, and wait for the decision."""
        self.say(message)
        answer = self.hear()
        assert isinstance(answer, Answer)
        return answer.decision


class RayWorkers:
    """An actor of one core each. The study's folder must be the same path on every machine of the cluster."""

    def __init__(self, count: int, address: str | None) -> None:
        ray, queue = _ray()
        self.count = count
        try:
            if not ray.is_initialized():
                options: dict[str, Any] = {"address": address} if address else {"num_cpus": count}
                ray.init(log_to_driver=False, logging_level="error", include_dashboard=False, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise RecipeError(f"Cannot reach Ray: {str(error).splitlines()[0]}", at="--on") from error
        self._ray = ray
        self._said = queue()
        self._answers = [queue() for _ in range(count)]
        self._actors: dict[int, Any] = {}
        self._working: dict[int, Any] = {}
        self._interrupted: set[int] = set()

    def begin(self, worker: int, job: Job) -> None:
        """Give an idle worker something to do."""
        if worker not in self._actors:
            threads = {"env_vars": {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}}
            self._actors[worker] = self._ray.remote(num_cpus=1, runtime_env=threads)(_Trainer).remote()
        task = self._actors[worker].run.remote(worker, msgspec.json.encode(job), self._said, self._answers[worker])
        self._working[worker] = task

    def answer(self, worker: int, answer: Answer) -> None:
        """Tell a worker that waits for it; one that is to save where it stands pauses at its next report."""
        if worker in self._interrupted:
            answer = Answer(decision="pause")
        self._answers[worker].put(msgspec.json.encode(answer))

    def wait(self, timeout_s: float) -> list[tuple[int, FromWorker | Gone]]:
        """What has been said meanwhile; an actor that died says nothing."""
        until = monotonic() + timeout_s
        while True:
            said: list[tuple[int, FromWorker | Gone]] = [
                (worker, decode_message(data)) for worker, data in self._said.get_nowait_batch(self._said.size())
            ]
            if said:
                return said
            lost = [(worker, Gone(reason=reason)) for worker in list(self._working) if (reason := self._lost(worker))]
            if lost or monotonic() >= until:
                return [*lost]
            sleep(POLL_S)

    def _lost(self, worker: int) -> str:
        done, _ = self._ray.wait([self._working[worker]], timeout=0)
        if not done:
            return ""
        task = self._working.pop(worker)
        try:
            self._ray.get(task)
        except Exception as error:  # whatever Ray says of an actor that is gone
            self._actors.pop(worker, None)
            return reason("actor", error=type(error).__name__)
        return ""

    def interrupt(self, worker: int) -> None:
        """At its next report."""
        self._interrupted.add(worker)

    def kill(self, worker: int) -> None:
        """End it, whatever it does."""
        if worker in self._actors:
            self._ray.kill(self._actors[worker])

    def close(self) -> None:
        """Let go of the actors and of Ray."""
        self._ray.shutdown()


class _Trainer:
    """What runs in an actor."""

    def run(self, worker: int, job: bytes, said: Any, answers: Any) -> None:
        """One job."""
        from luthier.tuning.worker import work

        decoded = decode_job(job)
        assert isinstance(decoded, Job)
        line = QueueLine(worker, said, answers)
        line.say(Alive())
        work(decoded, line)


def _ray() -> Any:
    try:
        import ray
        from ray.util.queue import Queue
    except ImportError as error:
        raise MissingPackage("Ray is not installed", hint="pip install 'luthier[ray]'") from error
    return ray, Queue
