"""Records the first layer's gradients, and stops as soon as the validation part is known well enough."""

from __future__ import annotations

from luthier.training import Evaluated, StepEnded

GRADIENT = "gradient/conv1.weight"


class Watch:
    """Hears two of the events; the others pass it by."""

    def step_ended(self, event: StepEnded) -> None:
        """A curve of its own in TensorBoard, beside the loss."""
        if event.step % 20 == 0:
            seen = event.training.session.probe([GRADIENT])
            event.training.writer.scalar("own/conv1_gradient", seen[GRADIENT].abs_mean, event.step)

    def evaluated(self, event: Evaluated) -> None:
        """End in good order: with a checkpoint, a result and a reason."""
        if event.split == "validation" and event.metrics.accuracy >= 95:
            event.training.stop(f"{event.metrics.accuracy:.1f} % is enough")
