"""Why a loss or a gradient differs where every layer agrees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from luthier.proof.network import Arrays
from luthier.proof.traps.registry import cause, trap, traps_of
from luthier.proof.verdict import Cause

__all__ = ["GradientFacts", "gradient_causes", "loss_causes"]

NOTHING = 1e-4


@dataclass(frozen=True, kw_only=True)
class GradientFacts:
    """Both sides' gradients by the reference's names, and whether the candidate's loss gave more than a loss."""

    theirs: Arrays
    ours: Arrays
    more_than_a_loss: bool
    differing: tuple[str, ...]

    def ratios(self) -> dict[str, tuple[float, float]]:
        """For each parameter the factor between the sides, and how badly a factor alone explains them."""
        found = {}
        sizes: dict[str, float] = {name: float(np.linalg.norm(array)) for name, array in self.theirs.items()}
        least = NOTHING * float(max(sizes.values(), default=0.0))
        for name in self.differing:
            if sizes[name] < least:
                continue  # a bias before a normalisation: its gradient is rounding alone
            one, two = self.theirs[name].ravel().astype(np.float64), self.ours[name].ravel().astype(np.float64)
            square = float(one @ one)
            if square > 0 and one.shape == two.shape:
                factor = float(one @ two) / square
                rest = float(np.linalg.norm(two - factor * one)) / max(float(np.linalg.norm(two)), 1e-300)
                found[name] = (factor, rest)
        return found


def gradient_causes(facts: GradientFacts) -> tuple[Cause, ...]:
    """Every trap that fits, the surest first."""
    found = []
    for item in traps_of("gradient"):
        detail = item.function(facts)
        if detail is not None:
            found.append(cause(item, exact=True, detail=detail))
    return tuple(found[:3])


@trap(
    "sum-of-outputs",
    subject="gradient",
    hint="value_and_grad sums the gradients of all outputs: pass has_aux=True where the loss gives more than itself.",
)
def summed_outputs(facts: GradientFacts) -> str | None:
    """The candidate's loss gives further outputs, and its gradient is that of their sum."""
    return "" if facts.more_than_a_loss else None


@trap(
    "gradient-cut",
    subject="gradient",
    hint="Look for stop_gradient, asnumpy(), a Python number taken from a tensor, or a Parameter used as a constant.",
)
def cut(facts: GradientFacts) -> str | None:
    """The candidate's gradient is zero: something between here and the loss cuts it off."""
    zero = [name for name in facts.differing if not np.any(facts.ours[name]) and np.any(facts.theirs[name])]
    return f"{len(zero)} of {len(facts.theirs)} parameters" if zero else None


@trap(
    "gradient-scaled",
    subject="gradient",
    hint="Look at the loss's reduction, at the division by loss_scale, and at how parts of a batch are averaged.",
)
def scaled(facts: GradientFacts) -> str | None:
    """The candidate's gradients are the reference's times one factor."""
    ratios = facts.ratios()
    if len(facts.differing) <= len(facts.theirs) // 2 or not ratios:
        return None
    factor = float(np.median([ratio for ratio, _ in ratios.values()]))
    whole = all(rest < 1e-3 and abs(ratio - factor) < 1e-3 * abs(factor) for ratio, rest in ratios.values())
    return f"{factor:.6g}" if whole and factor else None


@trap(
    "clipped-one-by-one",
    subject="gradient",
    hint="PyTorch's clip_grad_norm_ is over all gradients together: take ops.clip_by_global_norm.",
)
def clipped_apart(facts: GradientFacts) -> str | None:
    """The candidate's gradients are each the reference's times a factor of its own."""
    ratios = facts.ratios()
    if len(ratios) < 2 or any(rest > 1e-3 for _, rest in ratios.values()):
        return None
    factors = [ratio for ratio, _ in ratios.values()]
    greatest, least = float(max(factors)), float(min(factors))
    return "" if greatest - least > 1e-3 * max(abs(greatest), 1e-12) else None


def loss_causes(theirs: float, ours: float, count: int, variants: Callable[[], dict[str, float]]) -> tuple[Cause, ...]:
    """Which slip of the loss gives the candidate's value; `variants` are the reference's loss with one built in."""
    found = []
    values = variants() | {"loss-sum": theirs * count, "loss-mean": theirs / max(count, 1), "loss-sign": -theirs}
    for item in traps_of("loss"):
        value = values.get(item.name)
        if (
            value is not None
            and np.isclose(value, ours, rtol=1e-4, atol=1e-7)
            and not np.isclose(value, theirs, rtol=1e-4)
        ):
            found.append(cause(item, exact=True))
    return tuple(found)


def _named(name: str, sentence: str, hint: str) -> None:
    def told() -> None:
        """Replaced below."""

    told.__doc__ = sentence
    trap(name, subject="loss", hint=hint)(told)


_named("loss-sum", "The candidate's loss is a sum where the reference's is a mean.", "Write reduction='mean'.")
_named("loss-mean", "The candidate's loss is a mean where the reference's is a sum.", "Write reduction='sum'.")
_named("loss-sign", "The candidate's loss has the opposite sign.", "Look at the logarithm's sign.")
_named("label-smoothing", "The candidate's loss does not smooth the labels.", "Write label_smoothing=….")
_named(
    "smoothing-over",
    "The candidate's smoothing goes over the wrong classes alone, as the course's does.",
    "PyTorch spreads it over all classes: pass label_smoothing to ops.cross_entropy.",
)
_named("class-weights", "The candidate's loss leaves out the classes' weights.", "Write weight=….")
_named("ignore-index", "The candidate's loss counts labels that the reference ignores.", "Write ignore_index=….")
_named("softmax-twice", "The candidate takes the softmax before a loss that takes it again.", "Give it the logits.")
_named("smooth-l1-beta", "The candidate's smooth L1 loss has another beta.", "Write beta=… as the reference has it.")
_named("mean-over-batch", "The candidate's divergence is a mean over all elements.", "Write reduction='batchmean'.")
