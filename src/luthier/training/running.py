"""A run from its recipe to its result, and a run that goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from luthier.data import DataSet, Source, open_data
from luthier.engines import Group, Session, launched, open_session
from luthier.errors import LuthierError, StoreError, of_recipe
from luthier.recipe import ParamSpec, Recipe, load
from luthier.store import EventWriter, Result, Run, create_run, open_run, writing
from luthier.training.checkpoints import Checkpointer, LastCheckpoint
from luthier.training.interrupts import stop_on_signal
from luthier.training.listeners import Listener
from luthier.training.loop import Position, Training
from luthier.training.outcome import LastEvaluation, failure, outcome
from luthier.training.own_listeners import own_listeners
from luthier.training.recording import Reading, Recorder
from luthier.training.restoring import restore_latest, restored_position
from luthier.training.starting import start_from
from luthier.training.stopping import Best, EarlyStopping
from luthier.training.teaching import taught, with_teacher
from luthier.training.throughput import Throughput
from luthier.training.together import NoEvents, each, first, require_as_many, require_same_weights, together
from luthier.zoo import ONE_SIZE

__all__ = ["has_ended", "open_parts", "open_recipe_data", "resume", "train"]

ENDED = ("finished", "stopped")


def train(
    recipe: str | Path | Recipe,
    *,
    overrides: Iterable[str] = (),
    start: Run | Path | str | None = None,
    out: Path | str = "runs",
    data_root: Path | str | None = None,
    data: Source | None = None,
    listeners: Iterable[Listener] = (),
    param_spec: ParamSpec | None = None,
    final_evaluation: bool = True,
) -> Run:
    """Train a recipe to its end, on its data set or in code on a source of yours; the run's folder has the rest.

    `start` is a run of either engine, or a file, whose weights it begins with. `param_spec` has values that a
    selection found; overrides come after them. Without `final_evaluation` the evaluation set is not touched, as long as
    there is a validation part to judge by.
    """
    recipe = with_teacher(
        load(recipe, [*(param_spec.overrides() if param_spec else ()), *_starting(start), *overrides])
    )
    with together(recipe) as group, ExitStack() as held:
        listeners = _heard(recipe, group, listeners)
        dataset, session = each(group, lambda: open_parts(recipe, data_root, data, group))
        begun = replace(recipe, start=each(group, lambda: start_from(session, recipe.start)))
        require_same_weights(group, session.state())
        run = Run(Path(first(group, lambda: str(_created(out, begun, group).path))), begun)
        first(group, lambda: held.enter_context(writing(run.path)))
        writer = EventWriter(run.event_file()) if group.rank == 0 else NoEvents()
        training = Training(recipe=begun, session=session, data=dataset, writer=writer, group=group)
        improved = Best(min_delta=begun.stop.min_delta)
        return _go(_Course(run=run, training=training, improved=improved, final_evaluation=final_evaluation), listeners)


def _created(out: Path | str, recipe: Recipe, group: Group) -> Run:
    now = datetime.now().astimezone()
    return create_run(Path(out), recipe, now=now, ranks=group.ranks, backend=group.backend)


def _starting(start: Run | Path | str | None) -> list[str]:
    """What the recipe says of other weights than these does not hold for them."""
    if start is None:
        return []
    path = start.path if isinstance(start, Run) else start
    return [f"start.path={json.dumps(str(path))}", "start.sha256=''"]


def resume(
    run: Run | Path | str,
    *,
    data_root: Path | str | None = None,
    data: Source | None = None,
    listeners: Iterable[Listener] = (),
    final_evaluation: bool = True,
) -> Run:
    """Go on from the last checkpoint to the same bits; a run that has ended is given back as it is."""
    run = run if isinstance(run, Run) else open_run(run, writing=launched().rank == 0)
    if has_ended(run):
        return run
    with together(run.recipe) as group, ExitStack() as held:
        require_as_many(run, group)
        first(group, lambda: held.enter_context(writing(run.path)))
        if first(group, lambda: has_ended(run)):  # meanwhile
            return run
        listeners = _heard(run.recipe, group, listeners)
        dataset, session = each(group, lambda: open_parts(run.recipe, data_root, data, group))
        best, improved = Best(), Best(min_delta=run.recipe.stop.min_delta)
        position, seconds, length = Position(), 0.0, None
        if checkpoint := each(group, lambda: restore_latest(run, session, dataset, group.rank)):
            position, seconds, length = restored_position(checkpoint.progress, best, improved)
        else:
            each(group, lambda: start_from(session, run.recipe.start))
            first(group, lambda: run.event_file().unlink(missing_ok=True))
        writer = EventWriter(run.event_file(), length=length) if group.rank == 0 else NoEvents()
        training = Training(
            recipe=run.recipe, session=session, data=dataset, writer=writer, position=position, group=group
        )
        course = _Course(
            run=run,
            training=training,
            best=best,
            improved=improved,
            seconds_before=seconds,
            final_evaluation=final_evaluation,
        )
        return _go(course, listeners)


def _heard(recipe: Recipe, group: Group, listeners: Iterable[Listener]) -> list[Listener]:
    """The first rank's alone: what a listener prints or writes should be there once."""
    return [*own_listeners(recipe.listeners), *listeners] if group.rank == 0 else []


def has_ended(run: Run) -> bool:
    """Whether it came to its end, or to an early one of its own: then nothing is left to resume."""
    result = run.result()
    return result is not None and result.status in ENDED


def open_parts(
    recipe: Recipe,
    data_root: Path | str | None = None,
    source: Source | None = None,
    group: Group | None = None,
) -> tuple[DataSet, Session]:
    """The data and a fresh session that fits it."""
    data = open_recipe_data(recipe, data_root, source, group)
    with of_recipe(recipe.name):
        session = open_session(recipe, shape=data.shape, num_classes=len(data.classes), group=group)
        return data, taught(session, recipe, data)


def open_recipe_data(
    recipe: Recipe,
    data_root: Path | str | None = None,
    source: Source | None = None,
    group: Group | None = None,
) -> DataSet:
    """The data as the recipe's strategy sees it."""
    strategy = recipe.strategy
    with of_recipe(recipe.name):
        data = open_data(
            recipe.data,
            seed=strategy.seed,
            root=Path(data_root) if data_root else None,
            rank=group.rank if group else 0,
            ranks=group.ranks if group else 1,
            accumulate=strategy.accumulate,
            mixup=strategy.mixup,
            cutmix=strategy.cutmix,
            source=source,
        )
        if recipe.model.name in ONE_SIZE:
            data.require_one_size(recipe.model.name)
        return data


@dataclass(frozen=True, kw_only=True)
class _Course:
    """A run that is ready to start or to go on."""

    run: Run
    training: Training
    improved: Best
    best: Best = field(default_factory=Best)
    seconds_before: float = 0.0
    final_evaluation: bool = True


def _go(course: _Course, listeners: Sequence[Listener]) -> Run:
    """The listeners' order matters: what is saved last has been judged, shown and recorded before."""
    run, training, best, group = course.run, course.training, course.best, course.training.group
    throughput, last = Throughput(course.seconds_before), LastEvaluation()
    recorder = Recorder(run, training.writer, throughput) if group.rank == 0 else Reading(run.recipe.record)
    checkpointer = Checkpointer(run, training.writer, best, course.improved, throughput)
    ours = [LastCheckpoint(checkpointer), throughput, last, best, course.improved]
    chain = [*ours, *listeners, recorder, EarlyStopping(run.recipe.stop, course.improved), checkpointer]
    try:
        with stop_on_signal(training):
            ended = training.run(chain)
        result = outcome(training, ended, best, throughput, last, final=course.final_evaluation)
        first(group, lambda: _finish(course, result))
    except Exception as error:
        if group.rank == 0:
            _record_failure(course, error)
        if isinstance(error, LuthierError) and error.known_to_all:
            with suppress(LuthierError):
                group.gather(b"")  # a rank that left now would have the launcher end the one that still writes
        raise
    finally:
        with suppress(StoreError):  # where it matters it was closed above
            training.writer.close()
        training.data.close()
        training.session.close()
    return run


def _finish(course: _Course, result: Result) -> None:
    course.run.write_result(result)
    course.training.writer.close()


def _record_failure(course: _Course, error: Exception) -> None:
    """A disk that is full, say, may refuse the record too: that must not hide what went wrong first."""
    try:
        course.run.log(f"failed: {error}")
        course.run.write_result(failure(course.training, error))
    except StoreError as further:
        error.add_note(f"Not recorded: {further}")
    if isinstance(error, StoreError) and error.hint is None:
        error.hint = f"Once that is mended, go on with: {launched().program} train --resume {course.run.path}"
