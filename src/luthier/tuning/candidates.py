"""Candidates for one field, each trained a little: the clear losers stop early, the rest go on from where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import ceil, sqrt
from typing import Any

import numpy as np
from msgspec import Struct

from luthier.data import Batch, Batches, DataSet
from luthier.engines import NonFinite, Session
from luthier.recipe import Recipe
from luthier.strategy import learning_rates
from luthier.training import Metrics, evaluate
from luthier.tuning.range_test import endless

__all__ = ["Candidate", "Judging", "Tried", "as_good", "compare"]

STAGES = (0.25, 0.5, 1.0)  # of a pre-training, after each of which the losers stop
SIGMAS = 2.0
CLEAR_LOSS = 0.05  # a loss this share above the best is clearly worse


class Judging(Struct, frozen=True, kw_only=True):
    """What candidates are judged by."""

    by_acc: bool = True
    total_steps: int
    evaluation_total_steps: int  # batches of the validation part; 0 for all
    stop_losers: bool = True
    evaluate_every_n_steps: int = 0
    log_every_n_steps: int = 0


class Tried(Struct, kw_only=True):
    """One candidate: how far it came, and what it was worth there."""

    field: str
    value: Any
    steps: int = 0
    accuracy: float | None = None  # percent, on the validation part
    loss: float | None = None
    samples: int = 0  # that it was judged on
    ended: str = ""  # why it did not go on to the end
    curve: list[tuple[int, float, float]] = []  # step, accuracy, loss


@dataclass(kw_only=True)
class Candidate:
    """A short training that can go on: of the recipe's whole schedule, at a quicker pace."""

    tried: Tried
    recipe: Recipe
    session: Session
    data: DataSet
    judging: Judging
    log: Callable[[Tried, float], None] = lambda tried, loss: None
    batches: Iterator[Batch] = field(init=False)

    def __post_init__(self) -> None:
        self.batches = endless(self.data)
        planned = learning_rates(self.recipe.strategy, self.data.train.steps)
        at = np.linspace(0, len(planned) - 1, self.judging.total_steps).round().astype(int)
        self.rates = planned[at].tolist()

    def train(self, until: int) -> None:
        """Go on to a step, and judge."""
        every, log_every = self.judging.evaluate_every_n_steps, self.judging.log_every_n_steps
        try:
            while self.tried.steps < until:
                loss = self.session.step(next(self.batches), self.rates[self.tried.steps])
                self.tried.steps += 1
                if log_every and self.tried.steps % log_every == 0:
                    self.log(self.tried, float(loss))
                if every and self.tried.steps % every == 0 and self.tried.steps < until:
                    self.judge()
        except NonFinite:
            self.tried.ended = f"the loss was not finite at step {self.tried.steps + 1}"
            return
        self.judge()

    def judge(self) -> Metrics:
        """On the validation part, never on the evaluation set."""
        assert self.data.validation is not None
        part = _Beginning(self.data.validation, self.judging.evaluation_total_steps)
        metrics = evaluate(self.session.logits, part)
        self.tried.accuracy, self.tried.loss, self.tried.samples = metrics.accuracy, metrics.loss, metrics.samples
        self.tried.curve.append((self.tried.steps, metrics.accuracy, metrics.loss))
        if not np.isfinite(metrics.loss):
            self.tried.ended = f"the validation loss was not finite at step {self.tried.steps}"
        return metrics

    def close(self) -> None:
        """Let go of the network and the data."""
        self.session.close()
        self.data.close()


@dataclass(frozen=True)
class _Beginning:
    """The first batches of a part."""

    batches: Batches
    steps: int

    def epoch(self, epoch: int, /) -> Iterator[Batch]:
        return islice(self.batches.epoch(epoch), self.steps or None)


def compare(candidates: Sequence[Candidate], say: Callable[[Tried], None]) -> list[Tried]:
    """Train them side by side; the best first, whatever failed last."""
    live = list(candidates)
    stages = STAGES if candidates and candidates[0].judging.stop_losers else (1.0,)
    for number, share in enumerate(stages, start=1):
        for candidate in live:
            candidate.train(ceil(share * candidate.judging.total_steps))
            say(candidate.tried)
        live = [candidate for candidate in live if not candidate.tried.ended]
        if number < len(stages):
            live = _without_losers(live)
    return ranked([candidate.tried for candidate in candidates], by_acc=candidates[0].judging.by_acc)


def ranked(tried: Sequence[Tried], *, by_acc: bool) -> list[Tried]:
    """Whoever was trained longer was better up to there."""

    def key(item: Tried) -> tuple[bool, int, float]:
        worth = item.accuracy if by_acc else None if item.loss is None else -item.loss
        failed = "finite" in item.ended or worth is None
        return (not failed, item.steps, worth if worth is not None else 0.0)

    return sorted(tried, key=key, reverse=True)


def _without_losers(live: list[Candidate]) -> list[Candidate]:
    """Whoever is worse than chance explains stops, and of many the worse half."""
    if len(live) < 2:
        return live
    by_acc = live[0].judging.by_acc
    order = ranked([candidate.tried for candidate in live], by_acc=by_acc)
    best, allowed = order[0], ceil(len(live) / 2) if len(live) > 2 else 2
    kept = []
    for candidate in live:
        tried = candidate.tried
        if order.index(tried) >= allowed:
            tried.ended = f"in the worse half at step {tried.steps}"
        elif _clearly_worse(tried, best, tried.samples, by_acc=by_acc):
            tried.ended = f"clearly worse at step {tried.steps}"
        else:
            kept.append(candidate)
    return kept


def _clearly_worse(tried: Tried, best: Tried, samples: int, *, by_acc: bool) -> bool:
    return not as_good(tried, best, samples, by_acc=by_acc, sigmas=SIGMAS)


def as_good(tried: Tried, best: Tried, samples: int, *, by_acc: bool, sigmas: float = 1.0) -> bool:
    """Whether chance explains that it is not the best: so many images were judged."""
    if tried.accuracy is None or best.accuracy is None or tried.loss is None or best.loss is None:
        return False
    if not by_acc:
        return tried.loss <= best.loss * (1 + CLEAR_LOSS)
    share = best.accuracy / 100
    chance = 100 * sqrt(2 * max(share * (1 - share), 1e-4) / samples)
    return tried.accuracy >= best.accuracy - sigmas * chance
