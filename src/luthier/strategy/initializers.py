"""The initialisers as numbers, with MindSpore's defaults, and one sampler: both engines draw the same weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from luthier.errors import RecipeError, unknown

__all__ = ["INITIALIZERS", "Distribution", "distribution", "draw", "fans"]

Shape = tuple[int, ...]

CUT = 2.0  # a truncated normal ends at so many sigmas
CUT_STD = math.sqrt(1.0 - CUT * math.sqrt(2.0 / math.pi) * math.exp(-CUT * CUT / 2.0) / math.erf(CUT / math.sqrt(2.0)))


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Around zero; `scale` is a normal one's sigma (before the cut, where truncated) and a uniform one's bound."""

    kind: Literal["normal", "truncated-normal", "uniform"]
    scale: float

    @property
    def std(self) -> float:
        """The standard deviation of what is drawn: the cut takes 12 % off a truncated normal's sigma."""
        return self.scale * {"normal": 1.0, "truncated-normal": CUT_STD, "uniform": 1.0 / math.sqrt(3.0)}[self.kind]

    @property
    def bound(self) -> float:
        """No draw is farther from zero."""
        return self.scale * {"normal": math.inf, "truncated-normal": CUT, "uniform": 1.0}[self.kind]


def fans(shape: Shape) -> tuple[int, int]:
    """The inputs that one output sees, and the outputs that one input reaches, of a weight (out, in, *kernel)."""
    if len(shape) < 2:
        raise ValueError(f"a weight of shape {shape} has no inputs and outputs to count")
    return shape[1] * prod(shape[2:]), shape[0] * prod(shape[2:])


def normal(shape: Shape) -> Distribution:
    """N(0, 0.01²) whatever the shape: MindSpore 1.0's default for convolutions and dense layers."""
    return Distribution(kind="normal", scale=0.01)


def truncated_normal(shape: Shape) -> Distribution:
    """N(0, 0.01²), drawn again beyond two sigmas."""
    return Distribution(kind="truncated-normal", scale=0.01)


def xavier_uniform(shape: Shape) -> Distribution:
    """U(−b, b) with b = √(6/(fan in + fan out))."""
    return Distribution(kind="uniform", scale=math.sqrt(6.0 / sum(fans(shape))))


def he_normal(shape: Shape) -> Distribution:
    """N(0, 2/fan in): fan in and a slope of 0, as both frameworks have it when nothing else is said."""
    return Distribution(kind="normal", scale=math.sqrt(2.0 / fans(shape)[0]))


def he_uniform(shape: Shape) -> Distribution:
    """U(−b, b) with b = √(6/fan in), which has the standard deviation of he-normal."""
    return Distribution(kind="uniform", scale=math.sqrt(6.0 / fans(shape)[0]))


INITIALIZERS: Mapping[str, Callable[[Shape], Distribution]] = {
    "he-normal": he_normal,
    "he-uniform": he_uniform,
    "normal": normal,
    "truncated-normal": truncated_normal,
    "xavier-uniform": xavier_uniform,
}


def distribution(name: str, shape: Shape) -> Distribution:
    """What an initialiser of the recipe means for a weight of this shape; `default` is left to the framework."""
    if name not in INITIALIZERS:
        sentence, hint = unknown("initialiser", name, INITIALIZERS)
        raise RecipeError(sentence, at="model.init", hint=hint)
    return INITIALIZERS[name](shape)


def draw(name: str, shape: Shape, generator: np.random.Generator) -> NDArray[np.float32]:
    """A weight of this shape; drawn in float64, so that the float32 values depend on the generator's state alone."""
    source = distribution(name, shape)
    if source.kind == "uniform":
        return generator.uniform(-source.scale, source.scale, shape).astype(np.float32)
    values = generator.standard_normal(shape)
    if source.kind == "truncated-normal":
        while np.any(beyond := np.abs(values) > CUT):
            values[beyond] = generator.standard_normal(np.count_nonzero(beyond))
    return (source.scale * values).astype(np.float32)
