"""A larger run as a teacher: the smaller network learns its answers to the same augmented images beside the labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any, SupportsFloat

import msgspec
from msgspec.structs import replace

from luthier.data import Batch, DataSet, Description
from luthier.engines import Session, engine_of, open_session
from luthier.errors import LuthierError, ModelError
from luthier.recipe import Recipe
from luthier.store import Checkpoint, Run, chosen_checkpoint, load_checkpoint, open_run

__all__ = ["taught", "with_teacher"]

AT = "strategy.teacher"


class Taught:
    """A session whose every step also takes what the teacher answers to the batch; all else is the session's own."""

    def __init__(self, session: Session, teacher: Session, told: str) -> None:
        self._session, self._teacher = session, teacher
        self.notes = (*session.notes, told)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def step(self, batch: Batch, learning_rate: float) -> SupportsFloat:
        """The teacher sees the images as the network does: cropped, flipped and mixed."""
        given = self._teacher.logits(batch.images)
        return self._session.step(Batch(images=batch.images, labels=batch.labels, teacher=given), learning_rate)

    def close(self) -> None:
        """Both."""
        self._teacher.close()
        self._session.close()


def with_teacher(recipe: Recipe) -> Recipe:
    """The recipe says where exactly the teacher's weights lie and what they are, so that the run can be repeated."""
    if not recipe.strategy.teacher:
        return recipe
    run, saved = _found(recipe)
    path, step, digest = str(run.path.resolve()), saved.step, saved.weights_sha256
    strategy = replace(recipe.strategy, teacher=path, teacher_checkpoint=step, teacher_sha256=digest)
    return replace(recipe, strategy=strategy)


def taught(session: Session, recipe: Recipe, data: DataSet) -> Session:
    """The session, with the teacher that the recipe names; one of another task is refused."""
    if not recipe.strategy.teacher:
        return session
    run, saved = _found(recipe)
    _require_same_task(run, saved, data)
    own = ":" in run.recipe.model.name
    engine = engine_of(run.recipe) if own else session.engine
    device = session.device if engine == session.engine else "auto"
    plain = replace(run.recipe, engine=engine, device=device, mode=recipe.mode)
    teacher = open_session(plain, shape=data.shape, num_classes=len(data.classes), training=False)
    try:
        teacher.load({f"model/{name}": array for name, array in saved.weights.items()})
    except LuthierError:
        teacher.close()
        raise
    told = f"It is taught by {run.name}, step {saved.step} ({run.recipe.model.name})"
    pupil: Any = Taught(session, teacher, told)
    taught_session: Session = pupil
    return taught_session


def _found(recipe: Recipe) -> tuple[Run, Checkpoint]:
    """The teacher's run and its weights, which must be those that the recipe speaks of."""
    strategy = recipe.strategy
    try:
        run = open_run(Path(strategy.teacher).expanduser())
        saved = load_checkpoint(chosen_checkpoint(run, strategy.teacher_checkpoint))
    except LuthierError as error:
        raise ModelError(f"The teacher cannot be used: {error.sentence}", at=AT, hint=error.hint) from error
    if strategy.teacher_sha256 and saved.weights_sha256 != strategy.teacher_sha256:
        raise ModelError(
            f"{strategy.teacher} has not the weights that taught: their SHA-256 was {strategy.teacher_sha256[:12]}…, "
            f"now it is {saved.weights_sha256[:12]}…",
            at="strategy.teacher_sha256",
            hint="Leave strategy.teacher_sha256 out to be taught by them as they are now.",
        )
    return run, saved


def _require_same_task(run: Run, saved: Checkpoint, data: DataSet) -> None:
    told = saved.progress.get("data")
    known = msgspec.convert(told, Description) if told else None
    if known is None:
        return
    if known.classes != data.classes:
        raise ModelError(
            f"The teacher {run.name} tells {len(known.classes)} classes of {known.name} apart, "
            f"the network is to learn {len(data.classes)} of {data.name}",
            at=AT,
        )
    if known.shape != data.shape:
        sizes = ("×".join(map(str, shape)) for shape in (known.shape, data.shape))
        raise ModelError(
            f"The teacher {run.name} was trained on images of {next(sizes)}, these are {next(sizes)}", at=AT
        )
