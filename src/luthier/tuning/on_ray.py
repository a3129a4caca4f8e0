"""Workers as actors of a Ray cluster, or of a Ray on this machine: the same jobs, the same words, another way there."""

from __future__ import annotations

from time import monotonic
from typing import Any

import msgspec

from luthier.errors import MissingPackage, RecipeError
from luthier.tuning.messages import Alive, Answer, FromWorker, Job, decode_job, decode_message
from luthier.tuning.reasons import reason as told
from luthier.tuning.workers import Gone

__all__ = ["RayWorkers"]

LOOK_S = 0.5  # between two looks for actors that died


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

    def told_to_stop(self) -> bool:
        """An answer that nobody asked for means that."""
        return bool(self._answers.size())


class RayWorkers:
    """An actor of one core each. The study's folder must be the same path on every machine of the cluster."""

    def __init__(self, count: int, address: str | None) -> None:
        ray, queue, self._empty = _ray()
        self.count = count
        self._ours = not ray.is_initialized()
        try:
            if self._ours:
                options: dict[str, Any] = {"address": address} if address else {"num_cpus": count}
                ray.init(log_to_driver=False, logging_level="error", include_dashboard=False, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise RecipeError(
                f"Cannot reach Ray: {str(error).splitlines()[0]}",
                at="--on",
                hint="Is it running, with the same version of Ray? Where it asks for a token, set RAY_AUTH_MODE=token.",
            ) from error
        self._ray, self._queue = ray, queue
        self._said = queue()
        self._answers: dict[int, Any] = {}
        self._actors: dict[int, Any] = {}
        self._working: dict[int, Any] = {}
        self._heard: dict[int, float] = {}

    def begin(self, worker: int, job: Job) -> None:
        """Give an idle worker something to do; an answer that a dead one never heard must not reach the next."""
        if worker in self._actors:
            self._heard[worker] = monotonic()
        else:
            threads = {"env_vars": {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}}
            self._actors[worker] = self._ray.remote(num_cpus=1, runtime_env=threads)(_Trainer).remote()
            self._answers[worker] = self._queue()
            self._heard.pop(worker, None)
        actor, answers = self._actors[worker], self._answers[worker]
        self._working[worker] = actor.run.remote(worker, msgspec.json.encode(job), self._said, answers)

    def answer(self, worker: int, answer: Answer) -> None:
        """Tell a worker that waits for it."""
        self._answers[worker].put(msgspec.json.encode(answer))

    def wait(self, timeout_s: float) -> list[tuple[int, FromWorker | Gone]]:
        """What has been said meanwhile; an actor that died says nothing."""
        until = monotonic() + timeout_s
        while True:
            said = self._next(max(0.01, min(LOOK_S, until - monotonic())))
            if said:
                return said
            lost = [(worker, Gone(reason=reason)) for worker in list(self._working) if (reason := self._lost(worker))]
            if lost or monotonic() >= until:
                return [*lost]

    def _next(self, timeout_s: float) -> list[tuple[int, FromWorker | Gone]]:
        try:
            first = self._said.get(timeout=timeout_s)
        except self._empty:
            return []
        more = self._said.get_nowait_batch(self._said.size())
        for worker, _ in (first, *more):
            self._heard[worker] = monotonic()
        return [(worker, decode_message(data)) for worker, data in (first, *more)]

    def _lost(self, worker: int) -> str:
        done, _ = self._ray.wait([self._working[worker]], timeout=0)
        if not done:
            return ""
        task = self._working.pop(worker)
        try:
            self._ray.get(task)
        except Exception as error:  # whatever Ray says of an actor that is gone
            self._actors.pop(worker, None)
            return told("actor", error=type(error).__name__)
        return ""

    def silent_s(self, worker: int) -> float:
        """How long nothing was heard of it; an actor that still waits for its place in the cluster is not silent."""
        return monotonic() - self._heard[worker] if worker in self._heard else 0.0

    def interrupt(self, worker: int) -> None:
        """It looks for this once a second, and takes it for the answer to whatever it asks."""
        self.answer(worker, Answer(decision="pause"))

    def kill(self, worker: int) -> None:
        """End it, whatever it does; its next job finds a new actor."""
        self._working.pop(worker, None)
        if worker in self._actors:
            self._ray.kill(self._actors.pop(worker))

    def close(self) -> None:
        """Let go of the actors, and of Ray where it was not there before."""
        for worker in list(self._actors):
            self.kill(worker)
        if self._ours:
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
        from ray.util.queue import Empty, Queue
    except ImportError as error:
        raise MissingPackage("Ray is not installed", hint="pip install 'luthier[ray]'") from error
    return ray, Queue, Empty
