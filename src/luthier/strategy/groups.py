"""Which parameters share a weight decay and a learning rate, by name: both engines build the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from luthier.errors import RecipeError, nearest
from luthier.recipe import Optimizer, ParameterGroup

__all__ = ["Group", "ParameterInfo", "groups"]


@dataclass(frozen=True, kw_only=True)
class ParameterInfo:
    """A trainable parameter; `norm` is a normalisation's scale or shift, `bias` the shift of anything else."""

    name: str
    shape: tuple[int, ...]
    kind: Literal["weight", "bias", "norm"] = "weight"
    bytes_each: int = 4


@dataclass(frozen=True, kw_only=True)
class Group:
    """Parameters that the optimizer moves alike; `learning_rate` is a factor on the schedule's."""

    names: tuple[str, ...]
    weight_decay: float
    learning_rate: float


def groups(optimizer: Optimizer, parameters: Sequence[ParameterInfo]) -> list[Group]:
    """Every parameter in exactly one group, in the network's order; of the patterns the first match counts."""
    _check_patterns(optimizer.groups, [parameter.name for parameter in parameters])
    members: dict[tuple[float, float], list[str]] = {}
    for parameter in parameters:
        members.setdefault(_decay_and_factor(optimizer, parameter), []).append(parameter.name)
    return [
        Group(names=tuple(names), weight_decay=decay, learning_rate=factor)
        for (decay, factor), names in members.items()
    ]


def _decay_and_factor(optimizer: Optimizer, parameter: ParameterInfo) -> tuple[float, float]:
    decayed = optimizer.decay_norm_and_bias or parameter.kind == "weight"
    decay = optimizer.weight_decay if decayed else 0.0
    own = _first_match(optimizer.groups, parameter.name)
    if own is None:
        return decay, 1.0
    return decay if own.weight_decay is None else own.weight_decay, own.learning_rate


def _first_match(patterns: Sequence[ParameterGroup], name: str) -> ParameterGroup | None:
    return next((group for group in patterns if fnmatchcase(name, group.match)), None)


def _check_patterns(patterns: Sequence[ParameterGroup], names: Sequence[str]) -> None:
    """A pattern without effect is a slip of the pen, so it is refused rather than passed over."""
    for position, group in enumerate(patterns):
        at = f"strategy.optimizer.groups.{position}.match"
        matched = [name for name in names if fnmatchcase(name, group.match)]
        if not matched:
            close = nearest(group.match, names)
            hint = f"Perhaps you meant '{close}'." if close else f"The first parameters: {', '.join(names[:4])}."
            raise RecipeError(f"No parameter matches '{group.match}'", at=at, hint=hint)
        if all(_first_match(patterns[:position], name) for name in matched):
            raise RecipeError(
                f"Every parameter that matches '{group.match}' belongs to a group before it",
                at=at,
                hint="The first match counts: put the narrower pattern first.",
            )
