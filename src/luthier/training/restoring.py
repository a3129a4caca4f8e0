"""From a checkpoint back to a training: verified, of this network, on the same data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import convert, structs

from luthier.data import DataSet, Description
from luthier.engines import Session
from luthier.errors import CheckpointError, DataError
from luthier.store import Checkpoint, Run, load_checkpoint
from luthier.strategy import total_steps
from luthier.training.loop import Position
from luthier.training.stopping import Best
from luthier.training.together import of_rank

__all__ = ["require_same_data", "restore", "restore_latest", "restored_position"]

LONGEST = 60  # characters of a value in a sentence


def restore(session: Session, checkpoint: Checkpoint, rank: int = 0) -> None:
    """Put a session where it was when the checkpoint was taken."""
    averaged = any(key.startswith("model/") for key in checkpoint.state)
    part = "average/" if averaged else "model/"
    weights = {f"{part}{name}": array for name, array in checkpoint.weights.items()}
    session.load(of_rank(rank, weights | checkpoint.state))


def restore_latest(run: Run, session: Session, data: DataSet, rank: int = 0) -> Checkpoint | None:
    """Put a session where the run's last checkpoint has it; one that cannot be used is refused, never passed over."""
    checkpoints = run.checkpoints()
    if not checkpoints:
        return None
    latest = checkpoints[-1]
    try:
        checkpoint = _restored(latest, session, data, rank)
        _require_within(checkpoint, latest, total_steps(run.recipe.strategy, data.train.steps))
        return checkpoint
    except CheckpointError as error:
        at, hint = error.at or str(latest), _way_on(checkpoints, session, data, rank)
        raise CheckpointError(error.sentence, at=at, hint=hint) from error.__cause__


def _require_within(checkpoint: Checkpoint, path: Path, total: int) -> None:
    """Its steps are this run's: a checkpoint of old does not say whose it is."""
    if checkpoint.progress["position"]["step"] != checkpoint.step or checkpoint.step > total:
        raise CheckpointError(
            f"Checkpoint {path.name} is of step {checkpoint.step:,}, and the run has {total:,}: it is another run's",
            at=str(path),
        )


def _restored(path: Path, session: Session, data: DataSet, rank: int) -> Checkpoint:
    checkpoint = load_checkpoint(path)
    require_same_data(convert(checkpoint.progress["data"], Description), data)
    restore(session, checkpoint, rank)
    return checkpoint


def require_same_data(known: Description, data: DataSet) -> None:
    """Refuse other data than a network was trained on, such as what the recipe names where code gave arrays."""
    now = data.described(ranks=known.ranks)
    for field, was in structs.asdict(known).items():
        if (found := getattr(now, field)) != was:
            raise DataError(
                f"This is not the data that the run was trained on: {field} is {_shown(found)}, was {_shown(was)}",
                at=data.name,
                hint="Give the data root, or in code the source, that it was trained on.",
            )


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _way_on(checkpoints: Sequence[Path], session: Session, data: DataSet, rank: int) -> str:
    """Removing is left to the user: what is damaged may still be worth something to somebody."""
    for number in reversed(range(len(checkpoints) - 1)):
        try:
            _restored(checkpoints[number], session, data, rank)
        except CheckpointError:
            continue
        newer = " and ".join(path.name for path in checkpoints[number + 1 :])
        return f"{checkpoints[number].name} before it is whole: remove {newer}, and a resume goes on from there."
    return f"No whole one is before it: remove {checkpoints[0].parent}, and a resume starts over."


def restored_position(progress: dict[str, Any], best: Best, improved: Best) -> tuple[Position, float, int]:
    """The position, the seconds trained before, and the event file's length; both judges know what they knew."""
    best.go_on(progress["best"])
    improved.go_on(progress.get("improved", progress["best"]))  # one judge served both in checkpoints of old
    return Position(**progress["position"]), progress["train_seconds"], progress["event_length"]
