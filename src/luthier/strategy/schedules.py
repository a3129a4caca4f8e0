"""The learning rate of every step, computed once in float64: a schedule is one function over a run's steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from luthier.errors import RecipeError
from luthier.recipe import (
    Constant,
    Cosine,
    Exponential,
    OneCycle,
    Polynomial,
    Schedule,
    Square,
    Stage,
    Strategy,
)

__all__ = ["Span", "curve", "learning_rates", "total_steps"]

Curve = NDArray[np.float64]

LONGEST = 50_000_000  # steps of a run, each of which has its rate in memory


@dataclass(frozen=True, kw_only=True)
class Span:
    """A run in steps: how long it is, how long its warm-up, and how long an epoch."""

    total: int
    warmup: int
    epoch: int

    @property
    def steps(self) -> Curve:
        """Counted from the run's first step."""
        return np.arange(self.total, dtype=np.float64)

    @property
    def left(self) -> Curve:
        """The share of the steps after the warm-up that is still to come: 1 where the warm-up ends, 0 at the end."""
        return 1.0 - (self.steps - self.warmup) / max(self.total - self.warmup, 1)

    def step_of(self, epochs: float) -> int:
        """The step at which so many epochs have passed."""
        return round(epochs * self.epoch)


def total_steps(strategy: Strategy, steps_per_epoch: int) -> int:
    """The steps of the whole run; a length in steps takes the place of epochs."""
    total = strategy.steps or strategy.epochs * steps_per_epoch
    if total > LONGEST:
        raise RecipeError(
            f"Expected a run of at most {LONGEST:,} steps, got {total:,}",
            at="strategy.epochs",
            hint=f"An epoch has {steps_per_epoch:,} steps.",
        )
    return total


def learning_rates(strategy: Strategy, steps_per_epoch: int) -> NDArray[np.float32]:
    """One rate a step: `lr_init + i·(lr − lr_init)/warm` first, then the schedule's own.

    A run cut shorter than its warm-up climbs at the planned slope and ends below the recipe's rate.
    """
    warmup = round(strategy.schedule.warmup_epochs * steps_per_epoch)
    span = Span(total=total_steps(strategy, steps_per_epoch), warmup=warmup, epoch=steps_per_epoch)
    rates = curve(strategy.schedule, strategy.learning_rate, span)
    if warmup:
        first, top = strategy.schedule.lr_init, _top(strategy)
        rates[:warmup] = first + (top - first) / warmup * span.steps[:warmup]
    return rates.astype(np.float32)


def _top(strategy: Strategy) -> float:
    """Where a warm-up leads: the recipe's rate, or the low rate at which a one-cycle begins."""
    schedule = strategy.schedule
    return strategy.learning_rate / schedule.divide if isinstance(schedule, OneCycle) else strategy.learning_rate


@singledispatch
def curve(schedule: Schedule, peak: float, span: Span) -> Curve:
    """The schedule's rate at every step of the span; what it gives during the warm-up is not used."""
    raise NotImplementedError(f"no formula for the schedule {type(schedule).__name__}")


@curve.register
def constant(schedule: Constant, peak: float, span: Span) -> Curve:
    """lr."""
    return np.full(span.total, peak)


@curve.register
def cosine(schedule: Cosine, peak: float, span: Span) -> Curve:
    """end + (lr − end)/2·(1 + cos(π·i/total)), i from the run's first step: a warm-up ends a little below lr."""
    begin = span.warmup if schedule.start == "warmup" else 0
    steps = span.steps - begin
    if schedule.staircase:
        steps = np.floor(steps / span.epoch) * span.epoch
    share = steps / max(span.total - begin, 1)
    rates: Curve = schedule.end + 0.5 * (peak - schedule.end) * (1.0 + np.cos(np.pi * share))
    return rates


@curve.register
def square(schedule: Square, peak: float, span: Span) -> Curve:
    """lr·(1 − (i − warm)/(total − warm))²."""
    return peak * (span.left * span.left)


@curve.register
def polynomial(schedule: Polynomial, peak: float, span: Span) -> Curve:
    """end + (lr − end)·(1 − (i − warm)/(total − warm))^power."""
    return schedule.end + (peak - schedule.end) * np.minimum(span.left, 1.0) ** schedule.power


@curve.register
def exponential(schedule: Exponential, peak: float, span: Span) -> Curve:
    """lr·factor^(i/every), i from the run's first step; a staircase takes whole powers alone."""
    if schedule.staircase:
        powers = np.floor(span.steps / max(span.step_of(schedule.every_epochs), 1))
    else:
        powers = span.steps / (schedule.every_epochs * span.epoch)
    rates: Curve = peak * schedule.factor**powers
    return rates


@curve.register
def stage(schedule: Stage, peak: float, span: Span) -> Curve:
    """lr·factor^(milestones passed), a milestone counted from the run's first step."""
    milestones = sorted(span.step_of(epochs) for epochs in schedule.milestones)
    return peak * schedule.factor ** np.searchsorted(milestones, span.steps, side="right").astype(np.float64)


@curve.register
def one_cycle(schedule: OneCycle, peak: float, span: Span) -> Curve:
    """Half a cosine from lr/divide up to lr, and another down to lr/divide/divide_end, reached at the last step."""
    low = peak / schedule.divide
    last = low / schedule.divide_end
    cycle = span.total - span.warmup
    top = schedule.rise * cycle - 1.0
    steps = span.steps - span.warmup
    rise = np.clip(steps / top, 0.0, 1.0) if top > 0 else np.ones_like(steps)
    fall = np.clip((steps - top) / ((1.0 - schedule.rise) * max(cycle, 1)), 0.0, 1.0)
    up = peak + 0.5 * (low - peak) * (1.0 + np.cos(np.pi * rise))
    down = last + 0.5 * (peak - last) * (1.0 + np.cos(np.pi * fall))
    return np.where(steps <= top, up, down)
