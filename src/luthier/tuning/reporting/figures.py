"""What a report tells, as numbers: the final rows, what mattered, what each change did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from luthier.recipe import Range, Recipe
from luthier.tuning.folder import open_folder
from luthier.tuning.recipes import best_recipe, changes, final_recipe, kept_fields
from luthier.tuning.records import Cost, Reported, Trial
from luthier.tuning.space import value_at
from luthier.tuning.study import Study

__all__ = [
    "Effect",
    "FinalRow",
    "Searched",
    "effects",
    "final_rows",
    "group_of",
    "importance",
    "kept_settings",
    "searched",
    "states",
]

ENOUGH = 0.6  # of the trials must have come to an epoch so that they are compared there
BINS = 3  # of a range
FEWEST = 6  # trials, below which nothing is said of what mattered


@dataclass(frozen=True, kw_only=True)
class FinalRow:
    """A recipe, its cost, and its accuracy over the seeds."""

    name: str
    recipe: Recipe
    cost: Cost
    accuracies: tuple[float, ...]  # percent
    on_evaluation: bool  # or, where there was no final training, on the validation part

    @property
    def accuracy(self) -> float:
        """The mean."""
        return mean(self.accuracies)

    @property
    def spread(self) -> float | None:
        """The standard deviation, where there are several."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What the best gains in a field, or in all of a group's, by having `after` in place of `before`."""

    path: str  # or the group: "model", "training"
    before: Any
    after: Any
    kept: bool  # it was not changed: `before` is what was tried in its place
    accuracy: float | None  # points, on the validation part; none where it could not be trained
    size_mb: float
    latency_ms: float
    score: float | None
    reason: str = ""


def final_rows(study: Study) -> list[FinalRow]:
    """The recipe as it was, and the best, where they differ."""
    best, rows = study.best, []
    first = study.state.trials.get(0)
    if first is not None and first.cost is not None and best is not first:
        rows.append(_row(study, first, "baseline", study.recipe.name, {}))
    if best is not None and best.cost is not None:
        rows.append(_row(study, best, "winner", f"{study.recipe.name}-best", best.values))
    return [row for row in rows if row is not None]


def _row(study: Study, trial: Trial, kind: str, name: str, values: Any) -> FinalRow | None:
    finals = [item for item in study.state.of_kind(kind) if item.of == trial.number and item.eval_accuracy is not None]
    accuracies = tuple(item.eval_accuracy for item in finals if item.eval_accuracy is not None)
    shown = accuracies or ((trial.accuracy,) if trial.accuracy is not None else ())
    if not shown or trial.cost is None:
        return None
    return FinalRow(
        name=name,
        recipe=final_recipe(study.recipe, values, name, 1),
        cost=trial.cost,
        accuracies=shown,
        on_evaluation=bool(accuracies),
    )


def states(study: Study) -> Counter[str]:
    """How many trials of the search ended how."""
    return Counter(trial.state for trial in study.state.of_kind("search"))


def effects(study: Study, group: str) -> list[Effect]:
    """Of the model or of the training, as the ablation measured them: all changes at once, then each, then the kept."""
    best = study.best
    if best is None or best.cost is None:
        return []
    changed = [path for path in changes(study.recipe, best.values) if group_of(path) == group]
    trials = {trial.label: trial for trial in study.state.of_kind("ablation") if trial.of == best.number}
    first = study.state.trials.get(0)
    if len(changed) > 1 and len(changed) == len(changes(study.recipe, best.values)) and first is not None:
        trials[group] = first  # nothing else was changed: without them it is the recipe itself
    mine = [(label, trial) for label, trial in trials.items() if label == group or group_of(label) == group]
    found = [
        _effect(study, best, label, trial, kept=label not in (group, *changed))
        for label, trial in mine
        if trial.state in ("finished", "failed")
    ]
    return sorted(found, key=lambda one: (one.path != group, one.kept, -(one.score if one.score is not None else 1e9)))


def group_of(path: str) -> str:
    """Whether a field is of the model or of the training; a group's own label is of none."""
    if "." not in path:
        return ""
    return "model" if path.startswith("model.") else "training"


def _effect(study: Study, best: Trial, label: str, trial: Trial, *, kept: bool) -> Effect:
    assert best.cost is not None
    cost = trial.cost or best.cost
    without, made = (best_recipe(study.recipe, item.values) for item in (trial, best))
    known = trial.state == "finished" and trial.accuracy is not None
    return Effect(
        path=label,
        before=value_at(without, label) if "." in label else None,
        after=value_at(made, label) if "." in label else None,
        kept=kept,
        accuracy=(best.accuracy or 0) - (trial.accuracy or 0) if known else None,
        size_mb=best.cost.size_mb - cost.size_mb,
        latency_ms=best.cost.latency_ms - cost.latency_ms,
        score=(best.score or 0) - (trial.score or 0) if known else None,
        reason=trial.reason if trial.state == "failed" else "",
    )


def kept_settings(study: Study, group: str, found: Sequence[Effect]) -> dict[str, Any]:
    """The fields of a group that the best has as the recipe has them, and that nothing was tried in place of."""
    if study.best is None:
        return {}
    recipe, values = study.recipe, study.best.values
    paths = [path for path in kept_fields(recipe, study.state.space, values) if group_of(path) == group]
    measured = {effect.path for effect in found}
    made = best_recipe(recipe, values)
    return {path: value_at(made, path) for path in paths if path not in measured}


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A field of the space: what it could be, and what it was over all trials of the search."""

    path: str
    range: Range
    tried: tuple[Any, ...]  # each value once
    best: Any


def searched(study: Study) -> list[Searched]:
    """Field by field, in the space's order."""
    trials, found = list(study.state.of_kind("search")), []
    for path in study.state.space.order:
        tried: list[Any] = []
        for trial in trials:
            if path in trial.values and trial.values[path] not in tried:
                tried.append(trial.values[path])
        best = None if study.best is None else value_at(best_recipe(study.recipe, study.best.values), path)
        found.append(Searched(path=path, range=study.state.space.ranges[path], tried=tuple(tried), best=best))
    return found


def importance(study: Study) -> tuple[int, dict[str, float]]:
    """The epoch at which trials are compared, and of each field the share of the scores' variance that it explains.

    The share is that of the variance between the groups that a field's values make; chance alone explains a little.
    """
    reports: dict[int, dict[int, float]] = {}
    for entry in open_folder(study.path).entries():
        trial = study.state.trials.get(entry.trial) if isinstance(entry, Reported) else None
        if isinstance(entry, Reported) and trial is not None and trial.kind == "search":
            reports.setdefault(entry.epoch, {})[entry.trial] = study.state.score_of(entry.accuracy, trial.cost)
    most = max((len(scores) for scores in reports.values()), default=0)
    if most < FEWEST:
        return 0, {}
    epoch = max(number for number, scores in reports.items() if len(scores) >= max(FEWEST, ENOUGH * most))
    scores = reports[epoch]
    shares = {path: _explained(study, path, scores) for path in study.state.space.order}
    return epoch, dict(sorted(shares.items(), key=lambda item: -item[1]))


def _explained(study: Study, path: str, scores: dict[int, float]) -> float:
    drawn = {number: study.state.trials[number].values.get(path) for number in scores}
    groups: dict[str, list[float]] = {}
    edges = _edges([value for value in drawn.values() if value is not None])
    for number, value in drawn.items():
        groups.setdefault(_group(value, edges), []).append(scores[number])
    whole = mean(scores.values())
    total = sum((score - whole) ** 2 for score in scores.values())
    between = sum(len(group) * (mean(group) - whole) ** 2 for group in groups.values())
    freedom, rest = len(groups) - 1, len(scores) - len(groups)
    if total <= 0 or freedom < 1 or rest < 1:
        return 0.0
    within = (total - between) / rest  # what chance would explain is taken off
    return max(0.0, (between - freedom * within) / (total + within))


def _edges(values: Sequence[Any]) -> list[float] | None:
    """Of a range the thirds of what was drawn; none where the values are few or no numbers."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values) or len(set(numbers)) <= BINS:
        return None
    ordered = sorted(numbers)
    return [ordered[len(ordered) * part // BINS] for part in range(1, BINS)]


def _group(value: Any, edges: list[float] | None) -> str:
    if value is None or edges is None:
        return repr(value)
    return str(sum(1 for edge in edges if value >= edge))
