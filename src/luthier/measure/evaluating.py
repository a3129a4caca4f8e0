"""What a run is worth on a part of its data."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import asdict

from luthier.compress import Network, open_network, run_or_recipe
from luthier.errors import RecipeError
from luthier.store import Run
from luthier.training import Metrics, evaluate

__all__ = ["Evaluation", "as_run", "evaluate_run"]


class Evaluation(Metrics, frozen=True, kw_only=True):
    """The metrics, and what they are of."""

    run: str
    step: int
    data: str
    split: str
    classes: tuple[str, ...]


def evaluate_run(
    run: Run | Path | str,
    *,
    split: str = "eval",
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
) -> Evaluation:
    """Evaluate a checkpoint; the training part is seen whole, as evaluation sees images: not cropped at random."""
    found = as_run(run)
    with open_network(found, checkpoint=checkpoint, data_root=data_root) as network:
        metrics = _metrics(network, split)
        assert network.step is not None, "a run's network has a checkpoint"
        return Evaluation(
            **asdict(metrics),
            run=str(found.path),
            step=network.step,
            data=network.description.name,
            split=split,
            classes=network.classes,
        )


def as_run(run: Run | Path | str) -> Run:
    """A run; a recipe has weights, but none that mean anything."""
    found = run_or_recipe(run)
    if isinstance(found, Run):
        return found
    raise RecipeError(f"'{run}' is a recipe, expected a run", hint=f"Train it first: luthier train {run}")


def _metrics(network: Network, split: str) -> Metrics:
    with network.open_data(as_evaluated=split == "train") as data:
        return evaluate(network.session.logits, data.split(split))
