"""The whole training for a few steps, both networks left to themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from luthier.proof.climb import Climb
from luthier.proof.limits import ROUNDINGS, TIMES_DISTURBED, judge
from luthier.proof.network import Arrays
from luthier.proof.rungs.steps import OTHER_DTYPE, trains_here
from luthier.proof.trainer import Settled
from luthier.proof.verdict import Difference, Rung

__all__ = ["further_steps"]

NAME = "further steps"
DRAWS = 2
RATE = 0.002  # of the steps where nobody names one


def further_steps(climb: Climb) -> Rung:
    """Forward, backward, update and schedule, freely: rates, losses and weights, step by step."""
    if climb.steps < 1:
        return Rung(name=NAME, status="not applicable", sentence="no steps were asked for")
    chosen = _training(climb)
    if not trains_here(climb):
        return Rung(name=NAME, status="not applicable", sentence=OTHER_DTYPE)
    if chosen is None:
        told = "only one side's trainer has an optimizer"
        return Rung(name=NAME, status="not applicable", sentence=told)
    theirs, ours = chosen
    reference = _train(climb, climb.reference, theirs, climb.trainers[0])
    noisy = [
        _train(climb, climb.reference, theirs, climb.trainers[0], disturb=ROUNDINGS, seed=draw)
        for draw in range(1, DRAWS + 1)
    ]
    candidate = _train(climb, climb.candidate, ours, climb.trainers[1])
    found = _losses_differ(climb, reference, noisy, candidate) or _weights_differ(climb, reference, noisy, candidate)
    figures = {
        "losses": [reference.losses, candidate.losses],
        "learning_rates": [reference.rates, candidate.rates],
        "disturbed_losses": [run.losses for run in noisy],
    }
    apart = max((abs(a - b) for a, b in zip(reference.losses, candidate.losses, strict=True)), default=0.0)
    told = f"{climb.steps} steps; the losses are at most {apart:.1e} apart"
    return Rung.of(NAME, told, figures, found)


def _training(climb: Climb) -> tuple[Any, Any] | None:
    own = [getattr(trainer, "optimizer", None) for trainer in climb.trainers]
    if all(own):
        return own[0], own[1]
    if any(own):
        return None
    from luthier.recipe import Momentum
    from luthier.strategy import learning_rates

    if climb.recipe is not None:
        count = max(climb.steps, 1)
        rates = learning_rates(climb.recipe.strategy, max(count // max(climb.recipe.strategy.epochs, 1), 1))
        settled = Settled(optimizer=climb.recipe.strategy.optimizer, rates=[float(rate) for rate in rates])
    else:
        turns = np.pi * np.arange(climb.steps) / max(climb.steps, 1)
        settled = Settled(optimizer=Momentum(), rates=[float(RATE * (1 + np.cos(turn)) / 2) for turn in turns])
    return settled, settled


class Trained:
    """What a few steps gave; weights and statistics by the reference's names."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.rates: list[float | None] = []
        self.weights: Arrays = {}
        self.first: Arrays = {}


def _train(climb: Climb, network: Any, optimizer: Any, trainer: Any, *, disturb: float = 0.0, seed: int = 0) -> Trained:
    is_candidate = network is climb.candidate
    before = network.arrays()
    found = Trained()
    try:
        stepper = network.stepper(optimizer)
        for step in range(climb.steps):
            inputs, labels = climb.inputs(climb.seed + 1 + step), climb.labels_for(climb.seed + 1 + step)
            more = {} if is_candidate else {"disturb": disturb, "seed": seed * 100 + step}
            graded = network.graded(inputs, labels, trainer, keep=True, **more)
            found.losses.append(graded.loss)
            found.rates.append(stepper.learning_rate())
            stepper.apply(graded.gradients)
            if step == 0:
                found.first = network.arrays()
        found.weights = network.arrays()
    finally:
        network.load(before)
    if is_candidate:
        found.weights, found.first = climb.to_source(found.weights), climb.to_source(found.first)
    return found


def _losses_differ(climb: Climb, reference: Trained, noisy: Sequence[Trained], candidate: Trained) -> list[Difference]:
    drift = 0.0
    for step, (theirs, ours) in enumerate(zip(reference.losses, candidate.losses, strict=True)):
        rounded = max(abs(run.losses[step] - theirs) for run in noisy)
        drift = max(drift, rounded, 12 * climb.reference.unit * max(abs(theirs), 1.0))
        limit = TIMES_DISTURBED * drift
        if not abs(ours - theirs) <= limit:
            told = f"step {step + 1} has the loss {ours:.6g} where the reference has {theirs:.6g}"
            return [
                climb.difference(
                    NAME,
                    "",
                    f"loss of step {step + 1}",
                    sentence=told,
                    error=abs(ours - theirs),
                    limit=limit,
                    noise=drift,
                )
            ]
    return []


def _weights_differ(climb: Climb, reference: Trained, noisy: Sequence[Trained], candidate: Trained) -> list[Difference]:
    for name, theirs in reference.weights.items():
        if name not in candidate.weights or not np.issubdtype(theirs.dtype, np.floating):
            continue
        judged = judge(
            candidate.weights[name],
            theirs,
            [run.weights[name] for run in noisy],
            unit=climb.reference.unit,
            times=2 * TIMES_DISTURBED,
            scale=1e-3,
        )
        if judged.differs:
            told = f"{name} is off by {judged.error:.2g} after {climb.steps} steps"
            return [
                climb.difference(
                    NAME,
                    climb.reference_facts[name].owner,
                    f"{name} after {climb.steps} steps",
                    sentence=told,
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                )
            ]
    return []
