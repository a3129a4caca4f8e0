"""The loss, and every gradient: of each layer by itself, and of the whole network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from luthier.proof.climb import Climb, rng
from luthier.proof.evidence import digest
from luthier.proof.limits import ROUNDINGS, TIMES_DISTURBED, Judged, judge, worst
from luthier.proof.network import Array, Arrays, Call, Graded, LayerRun, floating, mapped
from luthier.proof.traps import Facts, gradient_causes, layer_causes, loss_causes
from luthier.proof.traps.training import GradientFacts
from luthier.proof.verdict import Difference, Rung

__all__ = ["gradients", "judge_gradients", "loss"]

LOSS, NAME = "loss", "gradients"
DRAWS = 3
SHIFT = 1e-3  # of an input's deviation: no two numbers are equal then, and none lies on a kink


def loss(climb: Climb) -> Rung:
    """Of the reference's own outputs, by both sides."""
    passes = climb.passes(training=True)
    labels = climb.labels_for(climb.seed)
    outputs = passes.own.outputs
    theirs, ours = climb.trainers
    own = climb.reference.loss(outputs, labels, theirs)
    exact = climb.reference.loss(outputs, labels, theirs, exact=True)
    try:
        found = climb.candidate.loss(outputs, labels, ours)
    except Exception as fault:
        shape = getattr(fault, "shape", None)
        if shape is None:
            raise
        told = f"The candidate's loss has the shape {shape}, expected one number"
        return _failed_loss(climb, told, None, ())
    judged = judge(np.array(found), np.array(exact), [np.array(own)], unit=climb.reference.unit, scale=1.0)
    figures = {"reference": own, "candidate": found, "exact": exact, "limit": judged.limit}
    if not judged.differs:
        told = f"{found:.6f}, by the reference {own:.6f}, on the same outputs"
        return Rung(name=LOSS, status="passed", sentence=told, figures=figures)
    count = int(outputs[0].shape[0]) if outputs and outputs[0].ndim else 1
    causes = loss_causes(exact, found, count, lambda: _variants(climb, outputs, labels))
    return _failed_loss(climb, f"{found:.6f} where the reference has {own:.6f}", judged, causes, figures)


def _failed_loss(
    climb: Climb, told: str, judged: Judged | None, causes: tuple[object, ...], figures: dict[str, float] | None = None
) -> Rung:
    numbers = {"error": judged.error, "limit": judged.limit, "noise": judged.noise} if judged else {}
    difference = climb.difference(LOSS, "", "loss", sentence=told, causes=causes, **numbers)
    return Rung(name=LOSS, status="failed", sentence=told, figures=figures or {}, differences=(difference,))


def _variants(climb: Climb, outputs: Sequence[Array], labels: Array | None) -> dict[str, float]:
    if climb.reference.framework != "torch":
        return {}
    from luthier.proof.torch.loss_variants import LOSS_VARIANTS

    found = {}
    for name, make in LOSS_VARIANTS.items():
        mode = make()
        with mode:
            value = climb.reference.loss(outputs, labels, climb.trainers[0], exact=True)
        if mode.used:
            found[name] = value
    return found


def gradients(climb: Climb) -> Rung:
    """First each layer alone with given gradients of its outputs, then the whole network's."""
    passes = climb.passes(training=True)
    calls = climb.comparable(passes)
    leaves = climb.leaves(calls)
    differences, alone = _alone(climb, leaves)
    judged, graded = _whole(climb, climb.seed)
    apart = [name for name, item in judged.items() if item.differs]
    if not differences and apart:  # a kink taken on the other side is gone with other inputs, a fault is not
        judged, graded = _whole(climb, climb.seed + 1000)
        apart = [name for name, item in judged.items() if item.differs]
    if not differences and apart:
        ours, theirs = graded
        facts = GradientFacts(
            theirs=theirs.gradients,
            ours=ours.gradients,
            more_than_a_loss=ours.more_than_a_loss,
            differing=tuple(apart),
        )
        causes = gradient_causes(facts)
        if len(apart) < len(judged) or not causes:
            known = {id(item[0]) for item in leaves}
            outer = [item for item in calls if id(item[0]) not in known and item[0].path]
            differences, _ = _alone(climb, outer, first_only=True)
        differences = [_with_causes(item, causes) for item in differences] or [
            _of_parameter(climb, apart, judged, causes)
        ]
    figures = {
        "layers": alone,
        "loss": [graded[1].loss, graded[0].loss],
        "parameters": {
            name: {"error": item.error, "noise": item.noise, "limit": item.limit, "scale": item.scale}
            for name, item in judged.items()
        },
        "sha256": {name: digest(array) for name, array in graded[0].gradients.items()},
    }
    return Rung(
        name=NAME,
        status="failed" if differences else "passed",
        sentence=_sentence(differences, judged, len(alone)),
        figures=figures,
        differences=tuple(differences),
    )


def _alone(
    climb: Climb, calls: Sequence[tuple[Call, str, int]], *, first_only: bool = False
) -> tuple[list[Difference], dict[str, dict[str, float]]]:
    found: list[Difference] = []
    figures: dict[str, dict[str, float]] = {}
    for number, (call, target, _) in enumerate(calls):
        shifted = _shifted(call, climb.seed + number)
        draw = rng(climb.seed, number + 1)
        cotangents = [
            draw.standard_normal(array.shape).astype(np.float32) if floating(array) else None for array in call.outputs
        ]
        if all(cotangent is None for cotangent in cotangents):
            continue
        try:
            ours = climb.candidate.layer(target, shifted, training=True, cotangents=cotangents)
        except Exception:  # said by the forward rung already
            continue
        ours = replace(ours, gradients=climb.to_source(ours.gradients, linear=True))
        exact = climb.reference.layer(call.path, shifted, training=True, exact=True, cotangents=cotangents)
        noisy: list[LayerRun] = []
        judged = judge_gradients(climb, ours, exact, noisy)
        for is_exact, moved in ((False, 0.0), (True, ROUNDINGS if first_only else 1.0)):
            if judged.differs:  # only there does the reference's noise matter
                noisy.append(
                    climb.reference.layer(
                        call.path, shifted, training=True, exact=is_exact, disturb=moved, cotangents=cotangents
                    )
                )
                judged = judge_gradients(climb, ours, exact, noisy)
        figures[call.path] = {"error": judged.error, "noise": judged.noise, "limit": judged.limit}
        if judged.differs:
            facts = Facts(
                climb=climb,
                path=call.path,
                call=shifted,
                training=True,
                candidate=ours,
                exact=exact,
                noisy=tuple(noisy),
                cotangents=cotangents,
            )
            found.append(
                climb.difference(
                    NAME,
                    call.path,
                    "gradient of the layer alone",
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                    causes=layer_causes(facts) or _cut(ours, exact),
                )
            )
            if first_only:
                break
    return found, figures


def _cut(ours: LayerRun, exact: LayerRun) -> tuple[object, ...]:
    pairs = [(true, own) for true, own in zip(exact.input_gradients, ours.input_gradients, strict=False)]
    theirs = {f"input {i}": true for i, (true, _) in enumerate(pairs) if true is not None} | dict(exact.gradients)
    mine = {f"input {i}": own for i, (_, own) in enumerate(pairs) if own is not None} | dict(ours.gradients)
    both = tuple(name for name in theirs if name in mine)
    facts = GradientFacts(theirs=theirs, ours=mine, more_than_a_loss=False, differing=both)
    return gradient_causes(facts)


def judge_gradients(climb: Climb, ours: LayerRun, exact: LayerRun, noisy: Sequence[LayerRun]) -> Judged:
    """Of inputs and of parameters; where the reference has none, zero is right."""
    found = []
    unit = climb.reference.unit
    for i, true in enumerate(exact.input_gradients):
        if i >= len(ours.input_gradients):
            break
        own = ours.input_gradients[i]
        if own is None or true is None:
            continue
        found.append(
            judge(own, true, [array for run in noisy if (array := run.input_gradients[i]) is not None], unit=unit)
        )
    scale = max((float(np.abs(array).max(initial=0.0)) for array in exact.gradients.values()), default=0.0)
    for name, true in exact.gradients.items():
        if name in ours.gradients:
            rounded = [run.gradients[name] for run in noisy]
            found.append(judge(ours.gradients[name], true, rounded, unit=unit, scale=scale))
    return worst(found or [Judged(error=0.0, noise=0.0, limit=0.0, scale=0.0)])


def _shifted(call: Call, seed: int) -> Call:
    """Inputs without ties and off every kink."""
    draw = rng(seed, 7)

    def moved(leaf: object) -> object:
        if not floating(leaf) or not isinstance(leaf, np.ndarray) or leaf.size < 2:
            return leaf
        spread = float(leaf.std()) or 1.0
        return (leaf + SHIFT * spread * draw.standard_normal(leaf.shape)).astype(leaf.dtype)

    return replace(call, args=mapped(call.args, moved), kwargs=mapped(dict(call.kwargs), moved))


def _whole(climb: Climb, seed: int) -> tuple[dict[str, Judged], tuple[Graded, Graded]]:
    """The candidate's gradients against the exact ones, with the reference's disturbed by many roundings beside."""
    inputs, labels = climb.inputs(seed), climb.labels_for(seed)
    theirs, mine = climb.trainers
    exact = climb.reference.graded(inputs, labels, theirs, exact=True)
    noisy = [climb.reference.graded(inputs, labels, theirs)]
    noisy += [
        climb.reference.graded(inputs, labels, theirs, disturb=ROUNDINGS, seed=draw) for draw in range(1, DRAWS + 1)
    ]
    ours = climb.candidate.graded(inputs, labels, mine)
    named = climb.to_source(ours.gradients, linear=True)
    scale = greatest(exact.gradients)
    found = {
        name: judge(
            named[name],
            true,
            [item.gradients[name] for item in noisy],
            unit=climb.reference.unit,
            scale=scale,
            times=TIMES_DISTURBED,
        )
        for name, true in exact.gradients.items()
        if name in named
    }
    return found, (replace(ours, gradients=named), exact)


def greatest(arrays: Arrays) -> float:
    """The size of the terms that a gradient sums: a bias's thousands mostly cancel, and leave their rounding."""
    return max((float(np.abs(array).max(initial=0.0)) for array in arrays.values()), default=0.0)


def _with_causes(difference: Difference, causes: tuple[object, ...]) -> Difference:
    import msgspec

    return difference if difference.causes else msgspec.structs.replace(difference, causes=causes)


def _of_parameter(
    climb: Climb, apart: Sequence[str], judged: dict[str, Judged], causes: tuple[object, ...]
) -> Difference:
    """The last in the network's order: the gradient comes from behind."""
    name = apart[-1]
    item = judged[name]
    owner = climb.reference_facts[name].owner
    return climb.difference(
        NAME, owner, f"gradient of {name}", error=item.error, limit=item.limit, noise=item.noise, causes=causes
    )


def _sentence(differences: Sequence[Difference], judged: dict[str, Judged], layers: int) -> str:
    if differences:
        first = differences[0]
        where = f"{first.layer or 'the whole network'} differs: {first.what}"
        return f"{where}, {first.error or 0:.2g} where {first.limit or 0:.2g} is allowed"
    if not judged:
        return "no parameter is trained"
    name = max(judged, key=lambda key: judged[key].ratio)
    return (
        f"{len(judged)} parameters' and {layers} layers' agree; the nearest to its limit is {name}: "
        f"{judged[name].error:.1e} where {judged[name].limit:.1e} is allowed"
    )
