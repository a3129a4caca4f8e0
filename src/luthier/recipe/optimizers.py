"""The optimizers a recipe can name, one record each; `strategy` and the engines say what they do."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

__all__ = ["Adam", "AdamW", "Momentum", "Muon", "Nesterov", "Optimizer", "ParameterGroup", "Sgd"]

NonNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, lt=1)]


class ParameterGroup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters whose name matches a shell pattern, with what differs for them; the first match counts."""

    match: str
    weight_decay: NonNegative | None = None
    learning_rate: NonNegative = 1.0  # a factor on the schedule's


class OptimizerRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="name"):
    """What every optimizer has: decay by group."""

    weight_decay: NonNegative = 0.0
    decay_norm_and_bias: bool = True
    groups: tuple[ParameterGroup, ...] = ()


class Sgd(OptimizerRecord, frozen=True, kw_only=True, tag="sgd"):
    """Plain steps against the gradient."""


class Momentum(OptimizerRecord, frozen=True, kw_only=True, tag="momentum"):
    """v = momentum·v + g; w −= lr·v."""

    momentum: Share = 0.9


class Nesterov(OptimizerRecord, frozen=True, kw_only=True, tag="nesterov"):
    """v = momentum·v + g; w −= lr·(g + momentum·v)."""

    momentum: Share = 0.9


class Adam(OptimizerRecord, frozen=True, kw_only=True, tag="adam"):
    """Adam with bias correction; its weight decay is added to the gradient."""

    beta1: Share = 0.9
    beta2: Share = 0.999
    epsilon: Annotated[float, Meta(gt=0)] = 1e-8


class AdamW(OptimizerRecord, frozen=True, kw_only=True, tag="adamw"):
    """Adam whose weight decay shrinks the weights directly, by lr·weight_decay a step."""

    weight_decay: NonNegative = 0.01
    beta1: Share = 0.9
    beta2: Share = 0.999
    epsilon: Annotated[float, Meta(gt=0)] = 1e-8


class Muon(OptimizerRecord, frozen=True, kw_only=True, tag="muon"):
    """Orthogonalised momentum for matrices and convolution filters; AdamW for everything else."""

    momentum: Share = 0.95
    nesterov: bool = True
    newton_schulz_steps: Annotated[int, Meta(ge=1)] = 5
    others_learning_rate: NonNegative = 0.1  # AdamW's, as a factor on the schedule's
    beta1: Share = 0.9  # AdamW's, as the next two
    beta2: Share = 0.999
    epsilon: Annotated[float, Meta(gt=0)] = 1e-8


Optimizer = Sgd | Momentum | Nesterov | Adam | AdamW | Muon
