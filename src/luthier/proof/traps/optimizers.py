"""Which rule of an optimizer, and which curve of a schedule, gives the candidate's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from luthier.proof.network import Array, Arrays
from luthier.proof.traps.registry import cause, trap, traps_of
from luthier.proof.verdict import Cause

__all__ = ["Rule", "optimizer_causes", "rule_of", "schedule_causes", "simulated"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """An optimizer for one parameter, as a formula; the defaults are PyTorch's meaning."""

    kind: str
    decay: float = 0.0
    momentum: float = 0.0
    nesterov: bool = False
    dampening: float = 0.0
    damp_first: bool = False  # whether the first velocity is damped, too
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    epsilon_outside: bool = True  # of the corrected root, as PyTorch has it
    corrected: bool = True
    decoupled: bool = False
    accumulated: float = 0.0  # the first sum or mean of squares
    rate: float = 1.0  # a factor on the learning rate


def rule_of(settings: Mapping[str, Any], name: str) -> Rule | None:
    """From what a PyTorch optimizer says of itself."""
    kind = str(settings.get("kind", "")).lower()
    decay = float(settings.get("decays", {}).get(name, settings.get("weight_decay", 0.0)))
    if kind == "sgd":
        return Rule(
            kind="sgd",
            decay=decay,
            momentum=settings["momentum"],
            nesterov=settings["nesterov"],
            dampening=settings["dampening"],
        )
    if kind in ("adam", "adamw"):
        beta1, beta2 = settings["betas"]
        return Rule(
            kind="adam", decay=decay, beta1=beta1, beta2=beta2, epsilon=settings["eps"], decoupled=kind == "adamw"
        )
    if kind == "rmsprop":
        return Rule(
            kind="rmsprop",
            decay=decay,
            beta2=settings["alpha"],
            epsilon=settings["eps"],
            momentum=settings["momentum"],
        )
    if kind == "adagrad":
        return Rule(
            kind="adagrad",
            decay=decay,
            epsilon=settings["eps"],
            accumulated=settings.get("initial_accumulator_value", 0.0),
        )
    return None


def simulated(rule: Rule, weight: Array, gradients: Sequence[Array], rates: Sequence[float]) -> Array:
    """The weight after the last step, in float64."""
    w = weight.astype(np.float64)
    first = np.zeros_like(w)
    second = np.full_like(w, rule.accumulated)
    for step, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        g, rate = gradient.astype(np.float64), rate * rule.rate
        if rule.decoupled:
            w = w * (1 - rate * rule.decay)
        else:
            g = g + rule.decay * w
        if rule.kind == "sgd":
            damped = 1 - rule.dampening if step > 1 or rule.damp_first else 1.0
            first = rule.momentum * first + damped * g if rule.momentum else g
            direction = g + rule.momentum * first if rule.nesterov else first
        elif rule.kind == "adam":
            first = rule.beta1 * first + (1 - rule.beta1) * g
            second = rule.beta2 * second + (1 - rule.beta2) * g * g
            one, two = (1 - rule.beta1**step, 1 - rule.beta2**step) if rule.corrected else (1.0, 1.0)
            if rule.epsilon_outside:
                direction = first / one / (np.sqrt(second / two) + rule.epsilon)
            else:
                direction = first / one * np.sqrt(two) / (np.sqrt(second) + rule.epsilon)
        elif rule.kind == "rmsprop":
            second = rule.beta2 * second + (1 - rule.beta2) * g * g
            direction = g / (np.sqrt(second) + rule.epsilon)
            if rule.momentum:
                first = rule.momentum * first + direction
                direction = first
        else:
            second = second + g * g
            direction = g / (np.sqrt(second) + rule.epsilon)
        w = w - rate * direction
    return w


def optimizer_causes(
    settings: Mapping[str, Any],
    before: Arrays,
    gradients: Sequence[Arrays],
    rates: Sequence[float],
    ours: Arrays,
    differing: Sequence[str],
) -> tuple[Cause, ...]:
    """The rules that give every differing parameter the candidate's values."""
    names = sorted(differing, key=lambda name: before[name].size)[:12]
    if all(np.array_equal(ours[name], before[name].astype(ours[name].dtype)) for name in names):
        return tuple(cause(item, exact=True) for item in traps_of("optimizer") if item.name == "no-update")
    if any(rule_of(settings, name) is None for name in names):
        return ()
    found = []
    everything = not any(np.any(before[name]) for name in before if name not in differing)  # a zero never decays
    for item in traps_of("optimizer"):
        for value in item.values or (None,):
            if all(_fits(item, value, settings, name, before, gradients, rates, ours, everything) for name in names):
                found.append(cause(item, exact=True, detail="" if value is None else f"here {value}"))
                break
    return tuple(found[:3])


def _fits(
    item: Any,
    value: Any,
    settings: Mapping[str, Any],
    name: str,
    before: Arrays,
    gradients: Sequence[Arrays],
    rates: Sequence[float],
    ours: Arrays,
    everything: bool,
) -> bool:
    base = rule_of(settings, name)
    assert base is not None
    arguments = () if value is None else (value,)
    rule = item.function(base, everything, *arguments)
    if rule is None or rule == base:
        return False
    given = [gradient[name] for gradient in gradients]
    plain = simulated(base, before[name], given, rates)
    moved = simulated(rule, before[name], given, rates)
    length = float(np.abs(plain - moved).max(initial=0.0))
    grain = 1e-6 * max(float(np.abs(before[name]).max(initial=0.0)), 1e-3)
    return float(np.abs(moved - ours[name]).max(initial=0.0)) <= max(0.02 * length, grain)


@trap(
    "no-update",
    subject="optimizer",
    hint="mint.optim changes nothing in eager PYNATIVE: take nn.*, or compile the step.",
)
def no_update(_rule: Rule, _everything: bool) -> Rule | None:
    """The candidate's optimizer changes no weight."""
    return None


@trap(
    "weight-decay-scope",
    subject="optimizer",
    hint="An ungrouped weight_decay of MindSpore passes over names with beta or gamma: give explicit groups.",
)
def no_decay_here(rule: Rule, everything: bool) -> Rule | None:
    """The candidate does not decay these parameters, and decays the others."""
    return None if everything or not rule.decay else replace(rule, decay=0.0)


@trap("weight-decay", subject="optimizer", hint="Write weight_decay as the reference has it.")
def no_decay(rule: Rule, everything: bool) -> Rule | None:
    """The candidate does not decay its weights."""
    return replace(rule, decay=0.0) if everything and rule.decay else None


@trap(
    "weight-decay-form",
    subject="optimizer",
    hint="AdamW shrinks the weights directly; Adam adds the decay to the gradient.",
    values=("alone", "and epsilon before the correction"),
)
def other_form(rule: Rule, _everything: bool, value: str) -> Rule | None:
    """The candidate's decay goes into the gradient where the reference's shrinks the weights, or the other way."""
    return replace(rule, decoupled=not rule.decoupled, epsilon_outside=value == "alone") if rule.decay else None


@trap(
    "weight-decay-scope",
    subject="optimizer",
    hint="Give explicit groups: nn.SGD of MindSpore decays all, and takes no decay by group.",
    values=(1e-4, 5e-4, 1e-3, 1e-2, 0.05, 0.1),
)
def decay_here(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate decays parameters by another amount."""
    return replace(rule, decay=value) if rule.decay != value else None


@trap(
    "weight-decay-scaled",
    subject="optimizer",
    hint="MindSpore divides the gradients by loss_scale inside the optimizer: scale the loss by the same number.",
    values=(1024.0, 128.0, 256.0, 512.0, 2048.0, 65536.0, 1 / 1024, 1 / 128, 10.0, 0.1),
)
def decay_scaled(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's decay is multiplied by a loss scale."""
    return replace(rule, decay=rule.decay * value) if rule.decay else None


@trap(
    "nesterov",
    subject="optimizer",
    hint="nn.Momentum(use_nesterov=True) of MindSpore 2.10 is plain momentum: take nn.SGD(nesterov=True).",
)
def without_nesterov(rule: Rule, _everything: bool) -> Rule | None:
    """The candidate's Nesterov momentum is plain momentum, or the other way round."""
    return replace(rule, nesterov=not rule.nesterov) if rule.kind == "sgd" and rule.momentum else None


@trap("dampening", subject="optimizer", hint="Write dampening=0.0.", values=(False, True))
def dampened(rule: Rule, _everything: bool, value: bool) -> Rule | None:
    """The candidate damps the gradient by 1 − momentum."""
    return replace(rule, dampening=rule.momentum, damp_first=value) if rule.kind == "sgd" and rule.momentum else None


@trap("momentum", subject="optimizer", hint="Write the reference's momentum out.", values=(0.0, 0.9, 0.99, 0.5, 0.95))
def other_momentum(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's momentum is another."""
    return replace(rule, momentum=value, nesterov=rule.nesterov and value > 0) if rule.kind == "sgd" else None


@trap(
    "adam-epsilon",
    subject="optimizer",
    hint="PyTorch adds epsilon after the bias correction: multiply it by √(1 − β₂ᵗ), or take Luthier's Adam.",
)
def epsilon_inside(rule: Rule, _everything: bool) -> Rule | None:
    """The candidate's Adam adds epsilon before the second moment is corrected, as TensorFlow's does."""
    return replace(rule, epsilon_outside=False) if rule.kind == "adam" else None


@trap(
    "bias-correction",
    subject="optimizer",
    hint="nn.AdamWeightDecay of MindSpore has no bias correction: take Luthier's AdamW, or compose one.",
    values=("its own epsilon", 1e-6),
)
def uncorrected(rule: Rule, _everything: bool, value: float | str) -> Rule | None:
    """The candidate's Adam does not correct its moments for their zero start."""
    epsilon = rule.epsilon if isinstance(value, str) else value
    return replace(rule, corrected=False, epsilon=epsilon) if rule.kind == "adam" else None


@trap(
    "optimizer-epsilon",
    subject="optimizer",
    hint="Write eps as the reference has it: PyTorch's is 1e-8, Keras' 1e-7, nn.AdamWeightDecay's 1e-6.",
    values=(1e-6, 1e-7, 1e-8, 1e-10, 1e-5, 1e-4, 1e-3),
)
def other_epsilon(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's optimizer has another epsilon."""
    return replace(rule, epsilon=value) if rule.kind != "sgd" and rule.epsilon != value else None


@trap("betas", subject="optimizer", hint="Write both betas out.", values=(0.99, 0.98, 0.95, 0.9, 0.9999))
def other_beta2(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's second moment moves at another pace."""
    return replace(rule, beta2=value) if rule.kind in ("adam", "rmsprop") and rule.beta2 != value else None


@trap("betas", subject="optimizer", hint="Write both betas out.", values=(0.0, 0.5, 0.8, 0.95, 0.99))
def other_beta1(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's first moment moves at another pace."""
    return replace(rule, beta1=value) if rule.kind == "adam" and rule.beta1 != value else None


@trap(
    "first-squares",
    subject="optimizer",
    hint="nn.RMSProp and nn.Adagrad of MindSpore begin from squares of 1 and 0.1: they are not PyTorch's.",
    values=(1.0, 0.1),
)
def other_start(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's squares begin from another number than zero."""
    return replace(rule, accumulated=value) if rule.kind in ("rmsprop", "adagrad", "adam") else None


@trap(
    "learning-rate",
    subject="optimizer",
    hint="Write the learning rate out: nn.SGD of MindSpore has 0.1.",
    values=(0.1, 10.0, 0.5, 2.0, 0.01, 100.0),
)
def other_rate(rule: Rule, _everything: bool, value: float) -> Rule | None:
    """The candidate's step is longer or shorter by a factor."""
    return replace(rule, rate=value)


def schedule_causes(theirs: Sequence[float], ours: Sequence[float]) -> tuple[Cause, ...]:
    """Which slip of a schedule gives the candidate's learning rates."""
    found = []
    for item in traps_of("schedule"):
        for curve, detail in item.function(np.array(theirs, np.float64), len(ours)):
            kept = ~np.isnan(curve)
            if kept.sum() >= len(ours) - 1 and np.allclose(curve[kept], np.array(ours)[kept], rtol=1e-5, atol=0):
                found.append(cause(item, exact=True, detail=detail))
                break
    return tuple(found)


Curves = Iterator[tuple[Array, str]]


@trap("schedule-off-by-one", subject="schedule", hint="Count the steps from 0, and ask for the rate before the step.")
def off_by_one(rates: Array, count: int) -> Curves:
    """The candidate's learning rates are the reference's, one step early or late."""
    nothing = np.array([np.nan])
    yield np.concatenate([rates[1:], nothing])[:count], "early"
    yield np.concatenate([rates[:1], rates[:-1]])[:count], "late"


@trap("schedule-constant", subject="schedule", hint="Give the optimizer the whole list of rates, one a step.")
def constant(rates: Array, count: int) -> Curves:
    """The candidate's learning rate stays what it was at the first step."""
    yield np.full(count, rates[0]), ""


@trap(
    "schedule-unit", subject="schedule", hint="MindSpore evaluates a schedule at every step, PyTorch where you call it."
)
def another_unit(rates: Array, count: int) -> Curves:
    """The candidate counts epochs where the reference counts steps, or the other way round."""
    for every in range(2, count + 1):
        yield rates[np.arange(count) // every], f"{every} steps to one"
        yield rates[np.minimum(np.arange(count) * every, len(rates) - 1)], f"one step to {every}"


@trap("schedule-scale", subject="schedule", hint="Write the reference's highest rate out.")
def scaled(rates: Array, count: int) -> Curves:
    """The candidate's learning rates are the reference's times a factor."""
    for factor in (0.1, 10.0, 0.5, 2.0, 0.01, 100.0, 0.25, 4.0):
        yield rates[:count] * factor, f"{factor:g}"


@trap("warmup", subject="schedule", hint="Write the warm-up's steps into the list of rates.")
def without_warmup(rates: Array, count: int) -> Curves:
    """The candidate leaves out the warm-up."""
    top = int(np.argmax(rates))
    if top:
        yield np.concatenate([np.full(top, rates[top]), rates[top:]])[:count], f"{top} steps"
        yield np.concatenate([rates[top:], np.full(top, np.nan)])[:count], f"{top} steps"
