"""What is written down at a run's end."""

from __future__ import annotations

from math import prod

from msgspec.structs import replace

from luthier.store import Result
from luthier.training.evaluation import Metrics
from luthier.training.events import Ending, Evaluated, RunEnded
from luthier.training.loop import Training
from luthier.training.stopping import Best
from luthier.training.throughput import Throughput
from luthier.training.together import gathered

__all__ = ["LastEvaluation", "failure", "outcome"]


class LastEvaluation:
    """Remembers each split's latest metrics: the final row needs no second pass over what was just evaluated."""

    def __init__(self) -> None:
        self._latest: dict[str, Evaluated] = {}

    def evaluated(self, event: Evaluated) -> None:
        """Keep it."""
        self._latest[event.split] = event

    def metrics(self, split: str, training: Training) -> Metrics:
        """Those of the network as it is now."""
        latest = self._latest.get(split)
        if latest is not None and latest.step == training.position.step:
            return latest.metrics
        return training.evaluate_together(split)


def outcome(
    training: Training, ended: RunEnded, best: Best, throughput: Throughput, last: LastEvaluation, *, final: bool = True
) -> Result:
    """A training that came to its end is evaluated; one that was interrupted will go on, and is not."""
    evaluated = ended.status != "interrupted"
    metrics = last.metrics("eval", training) if evaluated and final else None
    validation = last.metrics("validation", training) if evaluated and training.data.validation else None
    counts = [(prod(info.shape), info.bytes_each) for info in training.session.parameters]
    return replace(
        _position(training, ended.status),
        reason=ended.reason or None,
        accuracy=metrics and metrics.accuracy,
        top5=metrics and metrics.top5,
        loss=metrics and metrics.loss,
        samples=metrics and metrics.samples,
        validation_accuracy=validation and validation.accuracy,
        validation_loss=validation and validation.loss,
        parameters=sum(count for count, _ in counts),
        size_mb=sum(count * each for count, each in counts) / 1e6,
        train_seconds=throughput.train_seconds,
        images_per_second=throughput.images_per_second,
        best_step=best.step,
        skipped_images=_skipped(training),
    )


def _skipped(training: Training) -> int:
    """An image that several ranks met counts once."""
    if training.group.ranks == 1:
        return training.data.skipped
    met = gathered(training.group, [str(path) for path in training.data.unreadable])
    return len({path for paths in met for path in paths})


def failure(training: Training, error: Exception) -> Result:
    """What is known of a training that an error ended."""
    return replace(_position(training, "failed"), reason=str(error))


def _position(training: Training, status: Ending) -> Result:
    recipe, session, step = training.recipe, training.session, training.position.step
    return Result(
        name=recipe.name,
        status=status,
        engine=session.engine,
        mode=recipe.mode,
        device=session.device,
        steps=step,
        epochs=step / training.steps_per_epoch,
    )
