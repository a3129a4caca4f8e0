"""A study as its journal tells it: the trials, the best, and what searcher and scheduler know.

Every change is an entry: `apply` makes it, live and when a study is opened again, and so both come to the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from luthier.errors import RecipeError, unknown
from luthier.measure import score as scored
from luthier.recipe import Recipe
from luthier.tuning.reasons import reason
from luthier.tuning.records import (
    Asked,
    Closed,
    Cost,
    Costed,
    Died,
    Ended,
    Entry,
    Failed,
    Opened,
    Plan,
    Reported,
    Resumed,
    Trial,
)
from luthier.tuning.requirements import parse_requirement
from luthier.tuning.schedulers import Decision, Scheduler, make_scheduler
from luthier.tuning.searchers import Observation, Searcher, make_searcher
from luthier.tuning.space import Space, space_of

__all__ = ["OBJECTIVES", "StudyState"]

OBJECTIVES = ("score", "accuracy", "size", "latency")
WORSE = 1.0  # points below the worst known, for what failed


class StudyState:
    """Trials by number; what is decided follows from them, the plan and the recipe alone."""

    def __init__(self, recipe: Recipe, plan: Plan, *, searching: bool = True) -> None:
        self.recipe, self.plan = recipe, plan
        self.space: Space = space_of(recipe)
        self.requirements = [parse_requirement(text) for text in plan.require]
        for name in plan.objectives:
            if name not in OBJECTIVES:
                sentence, hint = unknown("objective", name, OBJECTIVES)
                raise RecipeError(sentence, at="--objectives", hint=hint)
        self.trials: dict[int, Trial] = {}
        self.sessions: list[Opened | Closed] = []
        self.stopped = ""  # by whom, before it came to its end
        self.searcher: Searcher | None = None
        self.scheduler: Scheduler = make_scheduler(plan.scheduler)
        if searching:
            self.searcher = make_searcher(plan.searcher, self.space, plan.seed, objectives=len(plan.objectives))

    def apply(self, entry: Entry) -> Decision:
        """Take an entry; for a report, whether the trial goes on."""
        match entry:
            case Opened() | Closed():
                self.sessions = [*self.sessions[-200:], entry]
            case Asked():
                self._asked(entry)
            case Costed():
                self.trials[entry.trial].cost = entry.cost
            case Reported():
                return self._reported(entry)
            case Resumed():
                if entry.by == "scheduler":
                    self.scheduler.resumable()
                self.trials[entry.trial].state = "running"
            case Died():
                self.trials[entry.trial].attempts += 1
            case Ended() | Failed():
                self._ended(entry)
        return "go"

    def _asked(self, entry: Asked) -> None:
        trial = Trial(number=entry.trial, values=entry.values, kind=entry.kind, label=entry.label, of=entry.of)
        self.trials[trial.number] = trial
        if trial.kind == "search" and self.searcher:
            self.searcher.tell(trial.number, Observation(values=trial.values))

    def _reported(self, entry: Reported) -> Decision:
        """An epoch that is trained again after a kill was judged before."""
        trial = self.trials[entry.trial]
        trial.seconds += entry.seconds
        if entry.epoch <= trial.epoch:
            return "go"
        trial.epoch, trial.epochs, trial.steps = entry.epoch, entry.epochs, entry.steps
        trial.accuracy, trial.loss = entry.accuracy, entry.loss
        trial.score = self.score_of(entry.accuracy, trial.cost)
        if trial.kind != "search":
            return "go"
        if self.searcher:
            self.searcher.report(trial.number, trial.progress, trial.score)
        decision = self.scheduler.report(trial.number, trial.progress, trial.score)
        if trial.number == 0:
            return "go"  # the recipe itself: what all others are compared with
        if decision == "pause":
            trial.state = "paused"
        elif decision == "stop":
            trial.state, trial.reason = "stopped", reason("worse")
            self._tell(trial, trial.score)
        return decision

    def _ended(self, entry: Ended | Failed) -> None:
        trial = self.trials[entry.trial]
        trial.reason = entry.reason
        if isinstance(entry, Failed):
            trial.state = "failed"
        else:
            trial.state, trial.run = entry.state, entry.run or trial.run
            trial.eval_accuracy = entry.accuracy
        if trial.kind != "search":
            return
        self.scheduler.ended(trial.number)
        if trial.state == "finished":
            self._tell(trial, trial.score)
        elif trial.state == "skipped":
            known = [item.accuracy for item in self.finished() if item.accuracy is not None]
            self._tell(trial, self.score_of(median(known), trial.cost) if known else None)
        else:
            scores = [item.score for item in self.trials.values() if item.score is not None]
            self._tell(trial, min(scores, default=0.0) - WORSE)

    def _tell(self, trial: Trial, score: float | None) -> None:
        if self.searcher is None:
            return
        observation = Observation(
            values=trial.values,
            progress=trial.progress,
            score=score,
            objectives=self._objectives(trial, score) if len(self.plan.objectives) > 1 else (),
            done=trial.state in ("finished", "failed", "skipped") and score is not None,
            violation=self.violation(trial),
        )
        self.searcher.tell(trial.number, observation)

    def _objectives(self, trial: Trial, score: float | None) -> tuple[float, ...]:
        if trial.cost is None or score is None:
            return ()
        accuracy = trial.accuracy if trial.state == "finished" and trial.accuracy is not None else 0.0
        values = {"score": score, "accuracy": accuracy, "size": -trial.cost.size_mb, "latency": -trial.cost.latency_ms}
        return tuple(values[name] for name in self.plan.objectives)

    def score_of(self, accuracy: float, cost: Cost | None) -> float:
        """By the recipe's weights."""
        cost = cost or Cost(parameters=0, size_mb=0.0, latency_ms=0.0)
        return scored(accuracy, cost.size_mb, cost.latency_ms, self.recipe.score)

    def violation(self, trial: Trial) -> float:
        """By how much it misses what is required; of the accuracy only where it came to its end."""
        accuracy = trial.accuracy if trial.state == "finished" else None
        return sum(requirement.misses_by(trial.cost, accuracy) for requirement in self.requirements)

    def hopeless(self, cost: Cost) -> str | None:
        """Why a network of this cost need not be trained; none where it may win."""
        for requirement in self.requirements:
            if requirement.metric != "accuracy" and requirement.misses_by(cost, None) > 0:
                value = f"{getattr(cost, requirement.metric):.4g}"
                return reason("misses", metric=requirement.metric, value=value, requirement=requirement)
        cap = self.plan.accuracy_cap
        if len(self.plan.objectives) > 1:
            for other in self.finished():
                if other.cost and other.accuracy is not None and other.accuracy >= cap and covers(other.cost, cost):
                    return reason("covered", other=other.number, cap=f"{cap:g}")
            return None
        best, bound = self.best(), self.score_of(cap, cost)
        if best is None or best.score is None or bound > best.score:
            return None
        return reason(
            "bound",
            size=f"{cost.size_mb:.4g}",
            latency=f"{cost.latency_ms:.4g}",
            bound=f"{bound:.2f}",
            cap=f"{cap:g}",
            other=best.number,
            score=f"{best.score:.2f}",
        )

    def of_kind(self, *kinds: str) -> Iterator[Trial]:
        """In the order of their numbers."""
        return (trial for trial in self.trials.values() if trial.kind in kinds)

    @property
    def count(self) -> int:
        """Trials of the search, whatever became of them."""
        return sum(1 for _ in self.of_kind("search"))

    def finished(self) -> list[Trial]:
        """Trials of the search that came to their end."""
        return [trial for trial in self.of_kind("search") if trial.state == "finished" and trial.score is not None]

    def best(self) -> Trial | None:
        """The highest score of those that have all that is required, on the validation part."""
        allowed = [trial for trial in self.finished() if self.violation(trial) <= 0]
        return max(allowed, key=lambda trial: (trial.score or 0.0, -trial.number), default=None)

    def front(self) -> list[Trial]:
        """Those that no other beats in accuracy, size and latency at once, the smallest first."""
        known = [trial for trial in self.finished() if trial.cost is not None]
        kept = [trial for trial in known if not any(dominates(other, trial) for other in known)]
        return sorted(kept, key=lambda trial: trial.cost.size_mb if trial.cost else 0.0)


def covers(one: Cost, other: Cost) -> bool:
    """Neither larger nor slower."""
    return one.size_mb <= other.size_mb and one.latency_ms <= other.latency_ms


def dominates(one: Trial, other: Trial) -> bool:
    """As good in everything, and better in something."""
    if one.cost is None or other.cost is None or one.accuracy is None or other.accuracy is None:
        return False
    better = (
        one.accuracy > other.accuracy
        or one.cost.size_mb < other.cost.size_mb
        or one.cost.latency_ms < other.cost.latency_ms
    )
    return one.accuracy >= other.accuracy and covers(one.cost, other.cost) and better
