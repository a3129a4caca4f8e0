"""A few steps of each optimizer on given gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from luthier.proof.climb import Climb, rng
from luthier.proof.limits import judge
from luthier.proof.network import Array, Arrays
from luthier.proof.trainer import Settled
from luthier.proof.traps import optimizer_causes
from luthier.proof.verdict import Difference, Rung

__all__ = ["COUNT", "OTHER_DTYPE", "one_step", "trains_here"]

STEP = "optimizer steps"
COUNT = 3  # of steps on given gradients: moments count from the second on
CROSSING = 0.005  # what an adaptive optimizer moves a weight in these steps, and some
OTHER_DTYPE = "Luthier's optimizers train float32 weights on MindSpore; give both sides a trainer"


def one_step(climb: Climb) -> Rung:
    """Each optimizer takes a few steps on the same gradients, of every size from 1 down to 1e-8."""
    chosen = _optimizers(climb)
    if not trains_here(climb):
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
    return Rung.of(STEP, told, figures, differences)


def trains_here(climb: Climb) -> bool:
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
