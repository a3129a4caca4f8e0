"""The recipe's optimizers as Cells that mean what PyTorch's mean, decay and factor by group.

MindSpore 2.10's own do not: `nn.Momentum(use_nesterov=True)` is plain momentum, `nn.AdamWeightDecay` has no bias
correction, and an ungrouped `weight_decay` passes over names with beta or gamma.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore import dtype as mstype

from luthier.engines.mindspore.muon import orthogonalised
from luthier.recipe import Adam, AdamW, Muon, Optimizer
from luthier.strategy import Group

__all__ = ["Rates", "Update", "build_update", "rates_at", "scalar"]

Rates = tuple[Tensor, Tensor, Tensor]  # the step's rate, Adam's own corrected one, and its epsilon

apply_momentum = ops.ApplyMomentum()
apply_adam = ops.Adam()

plain = ops.MultitypeFuncGraph("plain")
momentum = ops.MultitypeFuncGraph("momentum")
nesterov = ops.MultitypeFuncGraph("nesterov")
adam = ops.MultitypeFuncGraph("adam")
adamw = ops.MultitypeFuncGraph("adamw")
matrix = ops.MultitypeFuncGraph("matrix")

EACH = ("Number", "Number", "Tensor", "Tensor", "Tensor", "Tensor")  # decay, factor, weight, two slots, gradient


@plain.register("Tensor", *EACH)
def _plain(
    rate: Tensor, decay: float, factor: float, weight: Parameter, _one: Tensor, _two: Tensor, gradient: Tensor
) -> Tensor:
    if decay != 0.0:
        gradient = gradient + weight * decay
    return ops.assign(weight, weight - gradient * (rate * factor))


@momentum.register("Number", "Tensor", *EACH)
def _momentum(
    mass: float,
    rate: Tensor,
    decay: float,
    factor: float,
    weight: Parameter,
    velocity: Parameter,
    _two: Tensor,
    gradient: Tensor,
) -> Tensor:
    if decay != 0.0:
        gradient = gradient + weight * decay
    if factor != 1.0:
        rate = rate * factor
    return apply_momentum(weight, velocity, rate, gradient, mass)


@nesterov.register("Number", "Tensor", *EACH)
def _nesterov(
    mass: float,
    rate: Tensor,
    decay: float,
    factor: float,
    weight: Parameter,
    velocity: Parameter,
    _two: Tensor,
    gradient: Tensor,
) -> Tensor:
    if decay != 0.0:
        gradient = gradient + weight * decay
    new = velocity * mass + gradient
    moved = ops.assign(velocity, new)
    return ops.depend(ops.assign(weight, weight - (gradient + new * mass) * (rate * factor)), moved)


@adam.register("Number", "Number", "Tensor", "Tensor", *EACH)
def _adam(
    beta1: float,
    beta2: float,
    rate: Tensor,
    epsilon: Tensor,
    decay: float,
    factor: float,
    weight: Parameter,
    first: Parameter,
    second: Parameter,
    gradient: Tensor,
) -> Tensor:
    if decay != 0.0:
        gradient = gradient + weight * decay
    return apply_adam(weight, first, second, 0.0, 0.0, rate * factor, beta1, beta2, epsilon, gradient)


@adamw.register("Number", "Number", "Tensor", "Tensor", "Tensor", *EACH)
def _adamw(
    beta1: float,
    beta2: float,
    plain_rate: Tensor,
    rate: Tensor,
    epsilon: Tensor,
    decay: float,
    factor: float,
    weight: Parameter,
    first: Parameter,
    second: Parameter,
    gradient: Tensor,
) -> Tensor:
    if decay != 0.0:
        shrunk = ops.assign(weight, weight * (1.0 - plain_rate * (factor * decay)))
        gradient = ops.depend(gradient, shrunk)
    return apply_adam(weight, first, second, 0.0, 0.0, rate * factor, beta1, beta2, epsilon, gradient)


@matrix.register("Number", "Bool", "Number", "Tensor", *EACH)
def _matrix(
    mass: float,
    ahead: bool,
    num_iterations: int,
    rate: Tensor,
    decay: float,
    factor: float,
    weight: Parameter,
    velocity: Parameter,
    _two: Tensor,
    gradient: Tensor,
) -> Tensor:
    new = velocity * mass + gradient
    moved = ops.assign(velocity, new)
    direction = gradient + new * mass if ahead else new
    rows = weight.shape[0]
    update = orthogonalised(direction.reshape(rows, -1), num_iterations)
    step = rate * (factor * max(1.0, rows * rows / weight.size) ** 0.5)
    shrunk = weight * (1.0 - rate * (factor * decay))
    return ops.depend(ops.assign(weight, shrunk - update.reshape(weight.shape) * step), moved)


class Rule(nn.Cell):
    """One optimizer over some of the parameters."""

    def __init__(self, record: Any, parameters: Sequence[Parameter], options: dict[str, tuple[float, float]]) -> None:
        super().__init__(auto_prefix=False)
        self.kind = record.__struct_config__.tag
        self.parameters_ = ParameterTuple(parameters)
        names = SLOTS[self.kind] if getattr(record, "momentum", 1.0) else ()
        self.slots = {slot: self.parameters_.clone(prefix=f"luthier.{slot}", init="zeros") for slot in names}
        clones = list(self.slots.values())
        self.first = clones[0] if clones else self.parameters_
        self.second = clones[1] if len(clones) > 1 else self.parameters_
        self.decays = tuple(float(options[parameter.name][0]) for parameter in parameters)
        self.factors = tuple(float(options[parameter.name][1]) for parameter in parameters)
        self.mass = float(getattr(record, "momentum", 0.0))
        self.beta1, self.beta2 = float(getattr(record, "beta1", 0.0)), float(getattr(record, "beta2", 0.0))
        self.ahead = bool(getattr(record, "nesterov", False))
        self.num_iterations = int(getattr(record, "newton_schulz_steps", 0))
        self.each = ops.HyperMap()
        self.partial = ops.Partial()

    def construct(self, gradients: Any, rates: Rates) -> Any:
        """Change each parameter once."""
        rate, adam_rate, epsilon = rates
        if self.kind == "adam":
            change = self.partial(adam, self.beta1, self.beta2, adam_rate, epsilon)
        elif self.kind == "adamw":
            change = self.partial(adamw, self.beta1, self.beta2, rate, adam_rate, epsilon)
        elif self.kind == "muon":
            change = self.partial(matrix, self.mass, self.ahead, self.num_iterations, rate)
        elif self.mass == 0.0:
            change = self.partial(plain, rate)
        elif self.kind == "nesterov":
            change = self.partial(nesterov, self.mass, rate)
        else:
            change = self.partial(momentum, self.mass, rate)
        return self.each(change, self.decays, self.factors, self.parameters_, self.first, self.second, gradients)


SLOTS = {
    "sgd": (),
    "momentum": ("momentum",),
    "nesterov": ("momentum",),
    "muon": ("momentum",),
    "adam": ("moment1", "moment2"),
    "adamw": ("moment1", "moment2"),
}
COUNTED = ("adam", "adamw")


class Update(nn.Cell):
    """One rule, or for Muon two: its own for matrices and filters, AdamW for vectors."""

    def __init__(self, rules: Sequence[Rule], parameters: Sequence[Parameter]) -> None:
        super().__init__(auto_prefix=False)
        self.parameters = ParameterTuple(parameters)
        places = {parameter.name: place for place, parameter in enumerate(parameters)}
        self.places = tuple(tuple(places[p.name] for p in rule.parameters_) for rule in rules)
        self.split = len(rules) > 1
        self.first, self.second = rules[0], rules[-1]  # a CellList would rename their parameters

    def construct(self, gradients: Any, rates: Rates) -> Any:
        """Every parameter once."""
        if not self.split:
            return self.first(gradients, rates)
        first = self.first(tuple([gradients[i] for i in self.places[0]]), rates)
        second = self.second(tuple([gradients[i] for i in self.places[1]]), rates)
        return first, second

    @property
    def rules(self) -> list[Rule]:
        """One or two."""
        return [self.first, self.second] if self.split else [self.first]

    def slots(self) -> dict[str, dict[str, Parameter]]:
        """Each slot's parameters, by the weight's name."""
        found: dict[str, dict[str, Parameter]] = {}
        for rule in self.rules:
            for slot, clones in rule.slots.items():
                named = zip(rule.parameters_, clones, strict=True)
                found.setdefault(slot, {}).update({weight.name: clone for weight, clone in named})
        return found

    def counted(self) -> list[str]:
        """The weights whose rule counts its steps."""
        return [weight.name for rule in self.rules if rule.kind in COUNTED for weight in rule.parameters_]


def build_update(
    record: Optimizer, groups: Sequence[Group], parameters: Sequence[Parameter], names: dict[str, str]
) -> Update:
    """`names` gives each parameter the name that the groups know."""
    by_name = {name: (group.weight_decay, group.learning_rate) for group in groups for name in group.names}
    options = {parameter.name: by_name[names[parameter.name]] for parameter in parameters}
    if not isinstance(record, Muon):
        return Update([Rule(record, parameters, options)], parameters)
    matrices = [parameter for parameter in parameters if len(parameter.shape) >= 2]
    vectors = [parameter for parameter in parameters if len(parameter.shape) < 2]
    slower = {name: (decay, factor * record.others_learning_rate) for name, (decay, factor) in options.items()}
    others = AdamW(beta1=record.beta1, beta2=record.beta2, epsilon=record.epsilon)
    rules = [Rule(record, matrices, options)] if matrices else []
    rules += [Rule(others, vectors, slower)] if vectors else []
    return Update(rules, parameters)


def rates_at(record: Optimizer, learning_rate: float, step: int) -> Rates:
    """Adam's corrections in float64, and moved into its rate and its epsilon, where MindSpore's kernel has none."""
    numbers = (learning_rate, learning_rate, 0.0)
    if isinstance(record, Adam | AdamW | Muon):
        first, second = 1.0 - record.beta1**step, math.sqrt(1.0 - record.beta2**step)
        numbers = (learning_rate, learning_rate * second / first, record.epsilon * second)
    rate, corrected, epsilon = (scalar(number) for number in numbers)
    return rate, corrected, epsilon


@lru_cache(maxsize=16)
def scalar(number: float) -> Tensor:
    """Those that stay the same from step to step are made once."""
    return Tensor(number, mstype.float32)
