"""What follows a search: the final trainings of the best and of the recipe, and the ablation from the best."""

from __future__ import annotations

from collections.abc import Iterator

from luthier.tuning.coordinating import Wanted
from luthier.tuning.recipes import changes, kept_fields, other_value, put_back, replaced
from luthier.tuning.records import Trial
from luthier.tuning.space import Values
from luthier.tuning.state import StudyState

__all__ = ["finals"]

MODEL = "model."


def finals(state: StudyState, best: Trial) -> Iterator[Wanted]:
    """What is not there yet."""
    there = {(trial.kind, trial.label, trial.of) for trial in state.trials.values() if trial.state != "failed"}
    for number in range(1, state.plan.seeds + 1):
        if ("winner", str(number), best.number) not in there:
            yield Wanted(best.values, "winner", str(number), best.number)
        if best.number != 0 and ("baseline", str(number), 0) not in there:
            yield Wanted({}, "baseline", str(number), 0)
    if state.plan.ablate:
        for label, values in _ablations(state, best):
            if ("ablation", label, best.number) not in there:
                yield Wanted(values, "ablation", label, best.number)


def _ablations(state: StudyState, best: Trial) -> Iterator[tuple[str, Values]]:
    """Each change put back; all of the model's and all of the training's at once; what the model kept, for once not.

    Where only the model was changed, or only the training, all changes put back are the recipe itself: trial 0.
    """
    recipe, space = state.recipe, state.space
    changed = list(changes(recipe, best.values))
    model = [path for path in changed if path.startswith(MODEL)]
    training = [path for path in changed if not path.startswith(MODEL)]
    for path in changed:
        yield path, put_back(recipe, space, best.values, path)
    if model and training:
        for label, group in (("model", model), ("training", training)):
            if len(group) > 1:
                yield label, put_back(recipe, space, best.values, *group)
    ranked = sorted(state.finished(), key=lambda trial: -(trial.score or 0.0))
    for path in kept_fields(recipe, space, best.values):
        if path.startswith(MODEL):
            value = other_value(recipe, space, best.values, path, [trial.values for trial in ranked])
            if value is not None:
                yield path, replaced(space, best.values, {path: value})
