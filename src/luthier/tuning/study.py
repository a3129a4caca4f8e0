"""A study from its recipe to its best, and a study that goes on where it stopped."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import monotonic, time
from types import FrameType
from typing import Any

from luthier.errors import RecipeError, TuningError, unknown
from luthier.recipe import ParamSpec, Recipe, load, override
from luthier.training import open_recipe_data
from luthier.tuning.coordinating import Coordinator, Wanted
from luthier.tuning.ending import finals
from luthier.tuning.folder import StudyFolder, create_folder, open_folder
from luthier.tuning.recipes import trial_recipe
from luthier.tuning.records import Closed, Opened, Plan, Trial
from luthier.tuning.shared_data import share
from luthier.tuning.space import with_space
from luthier.tuning.state import StudyState
from luthier.tuning.workers import LocalWorkers, Workers
from luthier.zoo import check_options

__all__ = ["Study", "open_study", "resume_study", "tune"]

Say = Callable[[str], None]


@dataclass(frozen=True)
class Study:
    """What a study's folder holds, as its journal tells it."""

    path: Path
    state: StudyState

    @property
    def recipe(self) -> Recipe:
        """What the search began from, with its space."""
        return self.state.recipe

    @property
    def trials(self) -> list[Trial]:
        """All of them, by number."""
        return list(self.state.trials.values())

    @property
    def best(self) -> Trial | None:
        """By the validation part."""
        return self.state.best()


def open_study(path: Path | str) -> Study:
    """To look at: whatever works on it goes on."""
    folder = open_folder(path)
    state = StudyState(folder.recipe, folder.plan, searching=False)
    for entry in folder.entries():
        state.apply(entry)
    return Study(Path(path), state)


def tune(
    recipe: str | Path | Recipe,
    *,
    overrides: Iterable[str] = (),
    spaces: Iterable[str] = (),
    out: Path | str,
    budget_s: float | None = None,
    trials: int | None = None,
    workers: int | None = None,
    searcher: str = "tpe",
    scheduler: str = "halving",
    seed: int = 0,
    seeds: int = 3,
    ablate: bool = True,
    require: Iterable[str] = (),
    objectives: Iterable[str] = ("score",),
    accuracy_cap: float = 100.0,
    hang_s: float = 600.0,
    on: str = "here",
    data_root: Path | str | None = None,
    say: Say = lambda text: None,
) -> Study:
    """Search for the recipe's best score within a budget of seconds or trials; then train the best with several seeds.

    Trials are judged on a part of the training part. The evaluation set is touched once, for the final row: the best
    and the recipe itself, each trained with `seeds` seeds on all of the training part. With `ablate` each change of the
    best is put back by itself. `on` is "here", "ray" for a Ray on this machine, or ray://HOST:PORT.
    """
    if budget_s is None and trials is None:
        raise RecipeError("Expected a budget or a number of trials", hint="Such as --budget 30m or --trials 20.")
    _check_budget(budget_s)
    loaded = with_space(load(recipe, overrides), spaces)
    plan = Plan(
        luthier=version("luthier"),
        searcher=searcher,
        scheduler=scheduler,
        seed=seed,
        seeds=seeds,
        ablate=ablate,
        require=tuple(require),
        objectives=tuple(objectives),
        accuracy_cap=accuracy_cap,
        data_root=str(Path(data_root).absolute()) if data_root else None,
        hang_s=hang_s,
    )
    StudyState(loaded, plan)  # refuses what the plan cannot mean, before a folder is made
    _check_options(loaded, plan)
    folder = create_folder(Path(out), loaded, plan)
    return _work(folder, budget_s=budget_s, trials=trials, workers=workers, on=on, say=say)


def resume_study(
    path: Path | str,
    *,
    budget_s: float | None = None,
    trials: int | None = None,
    workers: int | None = None,
    on: str = "here",
    say: Say = lambda text: None,
) -> Study:
    """Go on: what was broken off goes on from its checkpoints, then the search with a further budget, then the end."""
    _check_budget(budget_s)
    return _work(open_folder(path, writing=True), budget_s=budget_s, trials=trials, workers=workers, on=on, say=say)


def _check_budget(budget_s: float | None) -> None:
    if budget_s is not None and budget_s <= 0:
        raise RecipeError(f"Expected a budget above 0, got {budget_s:g} s", at="--budget")


def _check_options(recipe: Recipe, plan: Plan) -> None:
    """A network's options are known once its data is: a name that it does not have would fail every trial."""
    with open_recipe_data(trial_recipe(recipe, {}, "check"), plan.data_root) as data:
        for path, item in recipe.space.items():
            if path.startswith("model.options.") and not any(name.startswith("model.") for name in item.when):
                for value in item.ends:
                    made = override(recipe, ParamSpec({path: value}).overrides()).model
                    check_options(made, shape=data.shape, num_classes=len(data.classes))


def _work(
    folder: StudyFolder, *, budget_s: float | None, trials: int | None, workers: int | None, on: str, say: Say
) -> Study:
    begun = monotonic()
    try:
        state = StudyState(folder.recipe, folder.plan)
        for entry in folder.entries():
            state.apply(entry)
        shared = share(folder.recipe.data, folder.plan.data_root, folder.path / "data") if _shareable(state) else None
        count = workers or cores()
        pool = _pool(on, count, folder)
        course = Coordinator(folder, state, pool, shared, say)
        course.record(Opened(at=time(), budget_s=budget_s, workers=count))
        try:
            with _told_to_stop(course):
                until = begun + budget_s if budget_s is not None else None
                goal = None if trials is None else state.count + trials
                course.run(_Search(course, goal, searching=budget_s is not None or trials is not None), until)
                _finish(course, budget_s)
        finally:
            pool.close()
            course.record(Closed(at=time(), seconds=monotonic() - begun, overhead_s=course.overhead_s))
        return Study(folder.path, state)
    finally:
        folder.close()


def _pool(on: str, count: int, folder: StudyFolder) -> Workers:
    if on == "here":
        return LocalWorkers(count, folder.path, folder.lock)
    if on != "ray" and not on.startswith("ray://"):
        sentence, hint = unknown("place", on, ("here", "ray", "ray://HOST:PORT"))
        raise RecipeError(sentence, at="--on", hint=hint)
    from luthier.tuning.on_ray import RayWorkers

    return RayWorkers(count, None if on == "ray" else on)


def _shareable(state: StudyState) -> bool:
    return not any(path in state.space.ranges for path in ("data.name", "data.path"))


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Search:
    """First what was broken off; then whoever was paused and has become worth it; then something new."""

    def __init__(self, course: Coordinator, goal: int | None, *, searching: bool) -> None:
        self._course, self._goal, self._searching = course, goal, searching
        self._broken_off = course.broken_off()

    def __call__(self) -> Wanted | int | None:
        state = self._course.state
        if self._broken_off:
            return self._broken_off.pop(0)
        if not self._searching:
            return None
        paused = state.scheduler.resumable()
        if paused is not None:
            return paused
        if self._goal is not None and state.count >= self._goal:
            return None
        number = max(state.trials, default=-1) + 1
        if number == 0:
            return Wanted(state.space.own(state.recipe))
        assert state.searcher is not None
        values = state.searcher.ask(number)
        return None if values is None else Wanted(values)


def _finish(course: Coordinator, budget_s: float | None) -> None:
    """The final trainings and the ablation, unless somebody stopped the study."""
    if course.stopping and "budget" not in course.stopping:
        course.state.stopped = course.stopping
        return
    course.stopping = ""
    best = course.state.best()
    if best is None:
        raise _nothing_found(course, budget_s)
    wanted = [*course.broken_off(), *finals(course.state, best)]
    if wanted:
        about = shown_time(best.seconds * -(-len(wanted) // course.workers.count))
        course.say(f"the best is trial {best.number}; for the evidence follow {len(wanted)} trainings, some {about}")
    course.run(lambda: wanted.pop(0) if wanted else None, None)
    course.state.stopped = course.stopping


def _nothing_found(course: Coordinator, budget_s: float | None) -> TuningError:
    """No trial came to its end, or none has what is required."""
    state, path = course.state, course.folder.path
    if state.finished():
        best = max(state.finished(), key=lambda trial: trial.accuracy or 0.0)
        return TuningError(
            f"None of {len(state.finished())} trials has {' and '.join(state.plan.require)}; "
            f"the most accurate has {best.accuracy or 0:.2f} %",
            at=str(path),
            hint=f"Nothing is lost. Go on with: luthier tune --resume {path} --budget 1h",
        )
    begun = [trial for trial in state.trials.values() if trial.epoch]
    if begun:
        first = max(begun, key=lambda trial: trial.progress)
        needed = first.seconds / first.progress
        told = f"trial {first.number} is at epoch {first.epoch} of {first.epochs}, and takes some {shown_time(needed)}"
    else:
        failed = [trial for trial in state.trials.values() if trial.state == "failed"]
        told = f"trial {failed[0].number} failed: {failed[0].reason}" if failed else "none has ended its first epoch"
    spent = f"within {shown_time(budget_s)}" if budget_s else "so far"
    return TuningError(
        f"No trial came to its end {spent}: {told}",
        at=str(path),
        hint=f"Nothing is lost. Go on with: luthier tune --resume {path} --budget 1h",
    )


def shown_time(seconds: float) -> str:
    """As people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def _told_to_stop(course: Coordinator) -> Iterator[None]:
    """Ctrl-C and SIGTERM end a study in good order: every trial saves where it stands."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        course.stopping = f"told by {signal.Signals(number).name}"
        signal.signal(number, before[number])

    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
