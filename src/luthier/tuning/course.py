"""A selection under way: the values so far, and how one field's candidates are set beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from luthier.data import DataSet, Source
from luthier.engines import Session
from luthier.errors import TrainingError
from luthier.recipe import ParamSpec, Recipe, flattened, override
from luthier.training import open_parts, start_from
from luthier.tuning.candidates import Candidate, Judging, Tried, as_good, compare, ranked
from luthier.tuning.functions import optimizer_overrides
from luthier.tuning.selection import shown

__all__ = ["DECAY", "MOMENTUM", "RATE", "Course", "Opened", "Say"]

Say = Callable[[str], None]

RATE = "strategy.learning_rate"
MOMENTUM, DECAY = "strategy.optimizer.momentum", "strategy.optimizer.weight_decay"
HELD_BACK = 0.1  # of the training part, where the recipe holds nothing back


@dataclass(kw_only=True)
class Course:
    """The values so far, and what they cost."""

    recipe: Recipe
    values: dict[str, Any]
    optimizer_fn: Callable[..., Any] | None
    source: Source | None
    data_root: Path | str | None
    say: Say
    names: tuple[str, str]
    judging: Judging = field(default_factory=lambda: Judging(total_steps=1, evaluation_total_steps=1))
    tried: list[Tried] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    steps: int = 0
    known: dict[str, Tried] = field(default_factory=dict)  # finished candidates, by what they are

    def recipe_with(self, values: dict[str, Any], validation: float | None = None) -> Recipe:
        """The recipe with the values so far, and some in their place; always with a part held back."""
        spec = ParamSpec({**self.values, **values})
        made = override(self.recipe, spec.overrides())
        if self.optimizer_fn:
            own = {path: value for path, value in flattened(made).items() if path.startswith("strategy.")}
            spec = ParamSpec({**own, **dict(spec.items())})
            made = override(made, optimizer_overrides(self.optimizer_fn, spec))
        held = made.data.validation or HELD_BACK if validation is None else validation
        return replace(made, data=replace(made.data, validation=held))

    def opened(self, values: dict[str, Any]) -> Opened:
        """A session and its data."""
        return Opened(self, values)

    def choose(self, path: str, values: Sequence[Any], *, equal_within: float = 0.0) -> None:
        """Try them side by side and keep the best."""
        before = self._current(path)
        settings = [self._with_rate(path, value) for value in values]
        fresh, done = [], []
        with ExitStack() as stack:
            for value, setting in zip(values, settings, strict=True):
                known = self.known.get(self._key(setting))
                if known is not None:
                    done.append(replace(known, field=path, value=value))
                    continue
                session, data = stack.enter_context(self.opened(setting))
                fresh.append(
                    Candidate(
                        tried=Tried(field=path, value=value),
                        recipe=self.recipe_with(setting),
                        session=session,
                        data=data,
                        judging=self.judging,
                        log=self._log,
                    )
                )
            results = compare(fresh, self._tell) if fresh else []
        self.steps += sum(tried.steps for tried in results)
        order = ranked([*results, *done], by_acc=self.judging.by_acc)
        if "finite" in order[0].ended:
            raise TrainingError(
                f"No candidate for {path} could be trained: {order[0].ended}",
                hint="Give lower learning rates, or begin from another recipe.",
            )
        chosen = self._lowest(order) if path == RATE else self._unless_equal(order, before, equal_within)
        for tried in results:
            self.known[self._key(self._with_rate(path, tried.value))] = tried
        self.tried += results
        self.values.update(self._with_rate(path, chosen.value))
        self.say(f"{path} = {shown(chosen.value)}")

    def _current(self, path: str) -> Any:
        spec = dict(self.values)
        if path in spec:
            return spec[path]
        value: Any = self.recipe_with({})
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else getattr(value, step, None)
        return value

    def _with_rate(self, path: str, value: Any) -> dict[str, Any]:
        """A momentum of m makes steps 1/(1 − m) long: the rate that was found for another is scaled to it."""
        if path == MOMENTUM and RATE in self.values and (now := self._current(MOMENTUM)) is not None:
            rate = self.values[RATE] * (1 - value) / (1 - now)
            return {path: value, RATE: float(f"{rate:.3g}")} if value != now else {path: value}
        return {path: value}

    def _key(self, setting: dict[str, Any]) -> str:
        return repr(self.recipe_with(setting))

    def _lowest(self, order: list[Tried]) -> Tried:
        """Of the rates that chance does not tell apart: a full training is far longer at a high one, and may fail."""
        by_acc, best = self.judging.by_acc, order[0]
        level = [one for one in order if one.steps == best.steps and not one.ended]
        equal = [one for one in level if as_good(one, best, best.samples, by_acc=by_acc)]
        return min(equal or [best], key=lambda one: float(one.value))

    def _unless_equal(self, order: list[Tried], before: Any, equal_within: float) -> Tried:
        """Short trainings hardly show what a weight decay does: a difference that is too small changes nothing."""
        kept = next((tried for tried in order if tried.value == before), None)
        if not equal_within or kept is None or kept.loss is None or order[0].loss is None:
            return order[0]
        apart = abs(kept.loss - order[0].loss) / max(abs(kept.loss), 1e-12)
        return kept if apart < equal_within else order[0]

    def _tell(self, tried: Tried) -> None:
        accuracy, loss = self.names
        if tried.accuracy is not None:
            self.say(
                f"  {tried.field} = {shown(tried.value)}: step {tried.steps}, {accuracy} {tried.accuracy:.2f} %, "
                f"{loss} {tried.loss:.4f}"
            )
        elif tried.ended:
            self.say(f"  {tried.field} = {shown(tried.value)}: {tried.ended}")

    def _log(self, tried: Tried, loss: float) -> None:
        self.say(f"    {tried.field} = {shown(tried.value)}: step {tried.steps}, training {self.names[1]} {loss:.4f}")

    def chosen(self, final: Recipe) -> dict[str, Any]:
        """The values, with the learning rate that they go with."""
        return {RATE: final.strategy.learning_rate, **self.values}


class Opened:
    """Opened with the values, from the weights that it starts from; closed at the end."""

    def __init__(self, course: Course, values: dict[str, Any]) -> None:
        self._course = course
        self._recipe = course.recipe_with(values)

    def __enter__(self) -> tuple[Session, DataSet]:
        course = self._course
        self._data, self._session = open_parts(self._recipe, course.data_root, course.source)
        start_from(self._session, self._recipe.start)
        return self._session, self._data

    def __exit__(self, *_: object) -> None:
        self._session.close()
        self._data.close()
