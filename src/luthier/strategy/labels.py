"""Label smoothing as numbers."""

from __future__ import annotations

from typing import Literal

from luthier.errors import RecipeError

__all__ = ["label_weights", "uniform_smoothing"]

Over = Literal["all", "others"]


def label_weights(num_classes: int, smoothing: float, over: Over = "all") -> tuple[float, float]:
    """The weight of the true class, and that of each other one.

    Over `others` the true class keeps 1 − s and the wrong ones share s, as the course has it; over `all` every class
    gets a share of s, the true one too, as PyTorch has it.
    """
    if over == "all":
        return 1.0 - smoothing + smoothing / num_classes, smoothing / num_classes
    if num_classes < 2 and smoothing:
        raise RecipeError("Label smoothing over the others needs two classes or more", at="strategy.smoothing_over")
    return 1.0 - smoothing, smoothing / max(num_classes - 1, 1)


def uniform_smoothing(num_classes: int, smoothing: float, over: Over = "all") -> float:
    """The smoothing over all classes that gives the same weights: what a framework's own loss takes."""
    if over == "all" or not smoothing:
        return smoothing
    equal = num_classes * label_weights(num_classes, smoothing, over)[1]
    if equal > 1.0:
        raise RecipeError(
            f"A smoothing of {smoothing:g} leaves the true one of {num_classes} classes less than each of the others",
            at="strategy.label_smoothing",
            hint=f"Stay at or below {(num_classes - 1) / num_classes:g}.",
        )
    return equal
