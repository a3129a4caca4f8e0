"""Which trap makes the reference's layer give the candidate's numbers; where none does, which settings differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from luthier.proof.network import Array, Call, LayerRun
from luthier.proof.traps.registry import cause, traps_of
from luthier.proof.verdict import Cause

if TYPE_CHECKING:
    from luthier.proof.climb import Climb

__all__ = ["Facts", "layer_causes"]

ALIASES = {  # PyTorch's attribute: MindSpore's
    "dilation": ("dilation",),
    "eps": ("eps", "epsilon"),
    "groups": ("group", "groups"),
    "kernel_size": ("kernel_size",),
    "negative_slope": ("alpha",),
    "num_groups": ("num_groups",),
    "stride": ("stride",),
}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A layer that differs: the call, what the candidate gave, and what the reference gives exactly and rounded."""

    climb: Climb
    path: str
    call: Call
    training: bool
    candidate: LayerRun
    exact: LayerRun
    noisy: tuple[LayerRun, ...]
    cotangents: Sequence[Array | None] | None = None


def layer_causes(facts: Facts) -> tuple[Cause, ...]:
    """At most three, those that explain the numbers first."""
    found = _explanations(facts) if facts.climb.reference.framework == "torch" else []
    return tuple((found or [*_simple(facts), *_settings(facts)])[:3])


def _explanations(facts: Facts) -> list[Cause]:
    import luthier.proof.torch.traps  # noqa: F401
    from luthier.proof.torch.calm import Variant

    found: list[Cause] = []
    for item in traps_of("layer"):
        for value in item.values or (None,):
            given = () if value is None else (value,)

            def change(call: Any, function: Any = item.function, given: Any = given) -> Any:
                return function(call, *given)

            if _explains(facts, Variant(dict.fromkeys(item.functions, change))):
                found.append(cause(item, exact=True, detail="" if value is None else f"here {value}"))
                break
    return found


def _explains(facts: Facts, variant: Any) -> bool:
    """Whether the reference with the trap in it gives the candidate's numbers."""
    from luthier.proof.rungs.forward import judge_layer
    from luthier.proof.rungs.gradients import judge_gradients

    climb = facts.climb
    try:
        run = climb.reference.layer(
            facts.path, facts.call, training=facts.training, exact=True, variant=variant, cotangents=facts.cotangents
        )
    except Exception:  # the trap does not fit this layer, and says so in whatever way
        return False
    if not variant.used:
        return False
    noisy = [_moved(run, facts.exact, rounded) for rounded in facts.noisy]
    if judge_layer(climb, facts.candidate, run, noisy).differs:
        return False
    return facts.cotangents is None or not judge_gradients(climb, facts.candidate, run, noisy).differs


def _moved(run: LayerRun, exact: LayerRun, rounded: LayerRun) -> LayerRun:
    """The variant with the noise that was measured without it."""
    outputs = tuple(
        one + (two - three) if one.shape == two.shape == three.shape else one
        for one, two, three in zip(run.outputs, rounded.outputs, exact.outputs, strict=False)
    )
    return LayerRun(
        outputs=outputs,
        statistics=dict(run.statistics),
        input_gradients=tuple(
            one if one is None or two is None or three is None else one + (two - three)
            for one, two, three in zip(
                run.input_gradients, rounded.input_gradients, exact.input_gradients, strict=False
            )
        ),
        gradients={
            name: array + (rounded.gradients[name] - exact.gradients[name]) if name in rounded.gradients else array
            for name, array in run.gradients.items()
        },
    )


def _simple(facts: Facts) -> list[Cause]:
    """What an output shows by itself."""
    import numpy as np

    found = []
    for ours, true in zip(facts.candidate.outputs, facts.exact.outputs, strict=False):
        if ours.shape != true.shape:
            told = f"The candidate gives the shape {ours.shape}, the reference {true.shape}."
            found.append(Cause(trap="shape", sentence=told, hint="Look at padding, stride and axes.", exact=False))
        elif not np.isfinite(ours).all() and np.isfinite(true).all():
            told = "The candidate gives numbers that are not finite."
            found.append(
                Cause(trap="not-finite", sentence=told, hint="Look for a division or a logarithm.", exact=False)
            )
    return found


def _settings(facts: Facts) -> list[Cause]:
    """Attributes that mean the same and differ."""
    climb = facts.climb
    theirs = climb.reference_layers[facts.path].settings
    ours = climb.candidate_layers[climb.paths[facts.path]].settings
    found = []
    for name, others in ALIASES.items():
        other = next((alias for alias in others if alias in ours), None)
        if name in theirs and other is not None and _flat(theirs[name]) != _flat(ours[other]):
            told = f"The reference has {name}={theirs[name]}, the candidate {other}={ours[other]}."
            found.append(Cause(trap="settings", sentence=told, hint=f"Write {other}={theirs[name]}.", exact=False))
    return found


def _flat(value: Any) -> Any:
    items = value if isinstance(value, tuple | list) else (value,)
    return items[0] if len(set(items)) == 1 else tuple(items)
