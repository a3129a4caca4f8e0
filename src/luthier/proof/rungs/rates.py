"""The learning rate of every step, on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from luthier.proof.climb import Climb
from luthier.proof.rungs.steps import COUNT
from luthier.proof.traps import schedule_causes
from luthier.proof.verdict import Difference, Rung

__all__ = ["one_rate_a_step"]

NAME = "learning rates"


def one_rate_a_step(climb: Climb) -> Rung:
    """Both optimizers' learning rates, step by step, on gradients of zero."""
    own = [getattr(trainer, "optimizer", None) for trainer in climb.trainers]
    if not all(own):
        told = "only one side's trainer has an optimizer" if any(own) else "both sides take the same list of rates"
        return Rung(name=NAME, status="not applicable", sentence=told)
    curves = [
        _curve(climb, network, optimizer)
        for network, optimizer in zip((climb.reference, climb.candidate), own, strict=True)
    ]
    found = _rates_differ(climb, *curves)
    shown = ", ".join(f"{rate:.4g}" for rate in curves[0] if rate is not None)
    figures = {"reference": curves[0], "candidate": curves[1]}
    return Rung.of(NAME, f"equal for {len(curves[0])} steps: {shown}", figures, found)


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
            NAME,
            "",
            f"learning rate of step {step + 1}",
            sentence=told,
            error=abs(one - two),
            limit=1e-5 * one,
            causes=causes,
        )
    ]
