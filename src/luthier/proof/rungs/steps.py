"""Optimizer steps on given gradients, and then the whole training for a few steps with its learning rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from luthier.proof.climb import Climb, rng
from luthier.proof.limits import ROUNDINGS, TIMES_DISTURBED, judge
from luthier.proof.network import Array, Arrays
from luthier.proof.trainer import Settled
from luthier.proof.traps import optimizer_causes, schedule_causes
from luthier.proof.verdict import Difference, Rung

__all__ = ["further_steps", "one_rate_a_step", "one_step"]

RATES, STEP, FURTHER = "learning rates", "optimizer steps", "further steps"
COUNT = 3  # of steps on given gradients: moments count from the second on
CROSSING = 0.005  # what an adaptive optimizer moves a weight in these steps, and some
DRAWS = 2
OTHER_DTYPE = "Luthier's optimizers train float32 weights on MindSpore; give both sides a trainer"
RATE = 0.002  # of the steps where nobody names one


def one_rate_a_step(climb: Climb) -> Rung:
    """Both optimizers' learning rates, step by step, on gradients of zero."""
    own = [getattr(trainer, "optimizer", None) for trainer in climb.trainers]
    if not all(own):
        told = "only one side's trainer has an optimizer" if any(own) else "both sides take the same list of rates"
        return Rung(name=RATES, status="not applicable", sentence=told)
    curves = [
        _curve(climb, network, optimizer)
        for network, optimizer in zip((climb.reference, climb.candidate), own, strict=True)
    ]
    found = _rates_differ(climb, *curves)
    shown = ", ".join(f"{rate:.4g}" for rate in curves[0] if rate is not None)
    return Rung(
        name=RATES,
        status="failed" if found else "passed",
        sentence=found[0].sentence if found else f"equal for {len(curves[0])} steps: {shown}",
        figures={"reference": curves[0], "candidate": curves[1]},
        differences=tuple(found),
    )


def _curve(climb: Climb, network: Any, optimizer: Any) -> list[float | None]:
    before = network.arrays()
    found = []
    try:
        stepper = network.stepper(optimizer)
        nothing = {name: np.zeros_like(array) for name, array in stepper.arrays().items()}
        for _ in range(max(climb.steps, COUNT)):
            found.append(stepper.learning_rate())
            stepper.apply(nothing)
    finally:
        network.load(before)
    return found


def one_step(climb: Climb) -> Rung:
    """Each optimizer takes a few steps on the same gradients, of every size from 1 down to 1e-8."""
    chosen = _optimizers(climb)
    if not _trains_here(climb):
        return Rung(name=STEP, status="not applicable", sentence=OTHER_DTYPE)
    if chosen is None:
        told = "only one side's trainer has an optimizer"
        return Rung(name=STEP, status="not applicable", sentence=told)
    figures: dict[str, Any] = {}
    differences: list[Difference] = []
    facts = [fact for fact in climb.reference_facts.values() if fact.trainable]
    weights = climb.reference.arrays()
    given = [_gradients(facts, weights, rng(climb.seed, 100 + step)) for step in range(COUNT)]
    for name, (theirs, ours) in chosen.items():
        found, worst_error = _stepped(climb, name, theirs, ours, given)
        figures[name] = worst_error
        differences += found
        if found:
            break
    names = list(dict.fromkeys(name.partition(",")[0] for name in chosen))
    decays = ", with and without weight decay" if len(names) < len(chosen) else ""
    told = f"{', '.join(names)}{decays}: every parameter agrees after {COUNT} steps on the same gradients"
    return Rung(
        name=STEP,
        status="failed" if differences else "passed",
        sentence=differences[0].sentence if differences else told,
        figures=figures,
        differences=tuple(differences),
    )


def _trains_here(climb: Climb) -> bool:
    """The user's own optimizers on whatever they take; Luthier's on float32."""
    own = all(getattr(trainer, "optimizer", None) for trainer in climb.trainers)
    return own or all(fact.dtype == "float32" for fact in climb.candidate_facts.values() if fact.trainable)


def _optimizers(climb: Climb) -> dict[str, tuple[Any, Any]] | None:
    """The user's own, or the usual four with and without weight decay; a recipe's by its name."""
    own = [getattr(trainer, "optimizer", None) for trainer in climb.trainers]
    if all(own):
        return {"the trainers' own": (own[0], own[1])}
    if any(own):
        return None
    found = {}
    for record in climb.optimizers:
        rate = 0.001 if record.__struct_config__.tag in ("adam", "adamw") else 0.05
        settled = Settled(optimizer=record, rates=[rate] * COUNT)
        decay = f", weight decay {record.weight_decay:g}" if record.weight_decay else ""
        found[f"{record.__struct_config__.tag}{decay}"] = (settled, settled)
    return found


def _stepped(
    climb: Climb, optimizer: str, theirs: Any, ours: Any, given: Sequence[Arrays]
) -> tuple[list[Difference], dict[str, float]]:
    before = climb.reference.arrays()
    candidate_before = climb.candidate.arrays()
    try:
        own, rates, settings = _taken(climb, climb.reference.stepper(theirs), given)
        exact = own
        if not isinstance(theirs, Settled):  # the user's: float64 says how much its own formula rounds
            climb.reference.load(before)
            exact, _, _ = _taken(climb, climb.reference.stepper(theirs, exact=True), given)
        mine, _, _ = _taken(climb, climb.candidate.stepper(ours), given, to_target=True)
    finally:
        climb.reference.load(before)
        climb.candidate.load(candidate_before)
    adaptive = settings.get("kind") != "SGD"
    judged = {
        name: judge(
            mine[name],
            true,
            [own[name]],
            unit=climb.reference.unit,
            times=2.0,
            scale=_scale(before[name], true, adaptive=adaptive),
        )
        for name, true in exact.items()
        if name in mine
    }
    apart = [name for name, item in judged.items() if item.differs]
    greatest = max((item.ratio for item in judged.values()), default=0.0)
    figures = {"greatest error in limits": greatest, "parameters": len(judged), "steps": COUNT}
    if not apart:
        return [], figures
    first = apart[0]
    item = judged[first]
    weights = {name: before[name] for name in given[0]}
    causes = optimizer_causes(settings, weights, given, [r or 0.0 for r in rates], mine, apart)
    names = f"{len(apart)} of {len(judged)} parameters" if len(apart) > 1 else first
    told = f"{optimizer}: {names} after {COUNT} steps on the same gradients, {first} by {item.error:.2g}"
    return [
        climb.difference(
            STEP,
            climb.reference_facts[first].owner,
            f"{first} after {COUNT} steps of {optimizer}",
            error=item.error,
            limit=item.limit,
            noise=item.noise,
            sentence=told,
            causes=causes,
        )
    ], figures


def _scale(before: Array, after: Array, *, adaptive: bool) -> float:
    """A weight's own size, and the length of its way: both are rounded at every step.

    MindSpore's Adam takes 1 − β₂ in float32, which is off by up to 6e-5 of it, and its way by half as much.
    """
    way = float(np.abs(after - before).max(initial=0.0))
    return float(np.abs(before).max(initial=0.0)) + (50.0 if adaptive else 2.0) * way


def _gradients(facts: Sequence[Any], weights: Arrays, draw: np.random.Generator) -> Arrays:
    """With the weight's own sign, and great where a weight may cross zero: no decay cancels one to its rounding."""
    found = {}
    for fact in facts:
        weight = weights[fact.name]
        lowest = np.where(np.abs(weight) < CROSSING, -1.0, -8.0).astype(np.float32)
        sizes = np.power(10.0, lowest * draw.random(fact.shape, np.float32), dtype=np.float32)
        found[fact.name] = np.where(weight < 0, -sizes, sizes)
    return found


def _taken(
    climb: Climb, stepper: Any, given: Sequence[Arrays], *, to_target: bool = False
) -> tuple[Arrays, list[float | None], dict[str, Any]]:
    rates = []
    for gradients in given:
        rates.append(stepper.learning_rate())
        stepper.apply(climb.to_target(gradients, linear=True) if to_target else gradients)
    found = climb.to_source(stepper.arrays()) if to_target else stepper.arrays()
    return found, rates, stepper.settings() if hasattr(stepper, "settings") else {}


def further_steps(climb: Climb) -> Rung:
    """Forward, backward, update and schedule, freely: rates, losses and weights, step by step."""
    if climb.steps < 1:
        return Rung(name=FURTHER, status="not applicable", sentence="no steps were asked for")
    chosen = _training(climb)
    if not _trains_here(climb):
        return Rung(name=FURTHER, status="not applicable", sentence=OTHER_DTYPE)
    if chosen is None:
        told = "only one side's trainer has an optimizer"
        return Rung(name=FURTHER, status="not applicable", sentence=told)
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
    return Rung(
        name=FURTHER,
        status="failed" if found else "passed",
        sentence=found[0].sentence if found else told,
        figures=figures,
        differences=tuple(found),
    )


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


def _rates_differ(climb: Climb, theirs: Sequence[float | None], ours: Sequence[float | None]) -> list[Difference]:
    pairs = list(zip(theirs, ours, strict=True))
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < len(pairs):
        return []
    step = next((i for i, (a, b) in enumerate(known) if not np.isclose(a, b, rtol=1e-5, atol=1e-12)), None)
    if step is None:
        return []
    one, two = known[step]
    told = f"step {step + 1} has the learning rate {two:.6g} where the reference has {one:.6g}"
    causes = schedule_causes([a for a, _ in known], [b for _, b in known])
    return [
        climb.difference(
            RATES,
            "",
            f"learning rate of step {step + 1}",
            sentence=told,
            error=abs(one - two),
            limit=1e-5 * one,
            causes=causes,
        )
    ]


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
                    FURTHER,
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
                    FURTHER,
                    climb.reference_facts[name].owner,
                    f"{name} after {climb.steps} steps",
                    sentence=told,
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                )
            ]
    return []
