"""Every intermediate: first both networks run freely, then each layer of the candidate on the reference's inputs."""

from __future__ import annotations

from collections.abc import Sequence

from luthier.proof.climb import Climb, Passes
from luthier.proof.evidence import digest
from luthier.proof.limits import Judged, judge, worst
from luthier.proof.network import Call, LayerRun
from luthier.proof.traps import Facts, layer_causes
from luthier.proof.verdict import Difference, Growth, Rung

__all__ = ["forward_evaluation", "forward_training"]


def forward_evaluation(climb: Climb) -> Rung:
    """As in `eval()`."""
    return _forward(climb, "forward, evaluation", training=False)


def forward_training(climb: Climb) -> Rung:
    """As in `train()`, with the statistics that the pass leaves; dropout is off."""
    return _forward(climb, "forward, training", training=True)


def _forward(climb: Climb, name: str, *, training: bool) -> Rung:
    passes = climb.passes(training=training)
    calls = climb.comparable(passes)
    free = _free(climb, passes, calls)
    differences, alone = _alone(climb, name, climb.leaves(calls), training=training)
    apart = [call for (call, _, _), judged in zip(calls, free, strict=True) if judged.differs]
    moved = _statistics(climb, passes) if training else {}
    if not differences and (apart or any(judged.differs for judged in moved.values())):
        leaves = {id(item[0]) for item in climb.leaves(calls)}
        outer = [item for item in calls if id(item[0]) not in leaves]
        differences, _ = _alone(climb, name, outer, training=training, first_only=True)
        differences = differences or _unexplained(climb, name, calls, free, moved)
    growth = tuple(
        Growth(layer=call.path, error=_relative(judged), limit=judged.limit / judged.scale if judged.scale else 0.0)
        for (call, _, _), judged in zip(calls, free, strict=True)
    )
    if differences:
        differences[0] = _with_growth(differences[0], growth)
    return Rung(
        name=name,
        status="failed" if differences else "passed",
        sentence=_sentence(differences, calls, free),
        figures=_figures(passes, calls, free, alone, moved),
        differences=tuple(differences),
    )


def _free(climb: Climb, passes: Passes, calls: Sequence[tuple[Call, str, int]]) -> list[Judged]:
    exact, disturbed = passes.exact.by_path(), passes.disturbed.by_path()
    own = passes.candidate.by_path()
    return [
        worst(
            [
                judge(ours, true, [theirs, noisy], unit=climb.reference.unit)
                for ours, true, theirs, noisy in zip(
                    own[target][number].outputs,
                    exact[call.path][number].outputs,
                    call.outputs,
                    disturbed[call.path][number].outputs,
                    strict=True,
                )
            ]
            or [Judged(error=0.0, noise=0.0, limit=0.0, scale=0.0)]
        )
        for call, target, number in calls
    ]


def _alone(
    climb: Climb,
    rung: str,
    calls: Sequence[tuple[Call, str, int]],
    *,
    training: bool,
    first_only: bool = False,
) -> tuple[list[Difference], dict[str, Judged]]:
    """Each layer on the reference's inputs; a layer that cannot be called so is passed over, and said."""
    found: list[Difference] = []
    judged_by: dict[str, Judged] = {}
    for call, target, number in calls:
        try:
            ours = climb.candidate.layer(target, call, training=training)
        except Exception as fault:  # a foreign framework on inputs that its layer takes in another form
            _note(climb, call.path, fault)
            continue
        exact = climb.reference.layer(call.path, call, training=training, exact=True)
        noisy = [LayerRun(outputs=call.outputs)]
        judged = judge_layer(climb, ours, exact, noisy)
        if judged.differs:  # more of the reference's noise is looked at where it may matter alone
            noisy.append(climb.reference.layer(call.path, call, training=training, exact=True, disturb=1.0))
            judged = judge_layer(climb, ours, exact, noisy)
        judged_by[f"{call.path}#{number}" if number else call.path] = judged
        if judged.differs:
            facts = Facts(
                climb=climb,
                path=call.path,
                call=call,
                training=training,
                candidate=ours,
                exact=exact,
                noisy=tuple(noisy),
            )
            what = "output on the reference's inputs"
            if not worst_of_outputs(climb, ours, exact, noisy).differs:
                what = "statistics after one pass"
            found.append(
                climb.difference(
                    rung,
                    call.path,
                    what,
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                    causes=layer_causes(facts),
                )
            )
            if first_only:
                break
    return found, judged_by


def _note(climb: Climb, path: str, fault: Exception) -> None:
    said = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
    note = f"'{path or 'the network'}' was compared in the whole network alone: {type(fault).__name__}: {said[:120]}"
    if note not in climb.notes:
        climb.notes.append(note)


def judge_layer(climb: Climb, ours: LayerRun, exact: LayerRun, noisy: Sequence[LayerRun]) -> Judged:
    """Outputs and statistics, the worst of them."""
    found = [worst_of_outputs(climb, ours, exact, noisy)]
    statistics = climb.to_source(ours.statistics)
    for name, true in exact.statistics.items():
        if name in statistics:
            rounded = [run.statistics[name] for run in noisy if name in run.statistics]
            found.append(judge(statistics[name], true, rounded, unit=climb.reference.unit))
    return worst(found)


def worst_of_outputs(climb: Climb, ours: LayerRun, exact: LayerRun, noisy: Sequence[LayerRun]) -> Judged:
    """Another number of outputs is an infinite error."""
    if len(ours.outputs) != len(exact.outputs):
        return Judged(error=float("inf"), noise=0.0, limit=0.0, scale=0.0)
    pairs = enumerate(zip(ours.outputs, exact.outputs, strict=True))
    return worst(
        [judge(own, true, [run.outputs[i] for run in noisy], unit=climb.reference.unit) for i, (own, true) in pairs]
        or [Judged(error=0.0, noise=0.0, limit=0.0, scale=0.0)]
    )


def _statistics(climb: Climb, passes: Passes) -> dict[str, Judged]:
    ours = climb.to_source(passes.candidate.statistics)
    return {
        name: judge(
            ours[name],
            true,
            [passes.own.statistics[name], passes.disturbed.statistics[name]],
            unit=climb.reference.unit,
        )
        for name, true in passes.exact.statistics.items()
        if name in ours
    }


def _unexplained(
    climb: Climb, name: str, calls: Sequence[tuple[Call, str, int]], free: Sequence[Judged], moved: dict[str, Judged]
) -> list[Difference]:
    """No layer differs by itself: the first at which the free runs part."""
    for (call, _, _), judged in zip(calls, free, strict=True):
        if judged.differs:
            return [
                climb.difference(
                    name,
                    call.path,
                    "output where both run freely",
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                )
            ]
    for statistic, judged in moved.items():
        if judged.differs:
            owner = climb.reference_facts[statistic].owner
            return [
                climb.difference(
                    name,
                    owner,
                    f"{statistic} after one pass",
                    error=judged.error,
                    limit=judged.limit,
                    noise=judged.noise,
                )
            ]
    return []


def _with_growth(difference: Difference, growth: tuple[Growth, ...]) -> Difference:
    import msgspec

    return msgspec.structs.replace(difference, growth=growth)


def _relative(judged: Judged) -> float:
    return judged.error / judged.scale if judged.scale else judged.error


def _sentence(differences: Sequence[Difference], calls: Sequence[tuple[Call, str, int]], free: Sequence[Judged]) -> str:
    if differences:
        first = differences[0]
        more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
        where = f"{first.layer or 'the whole network'} differs: {first.what}"
        return f"{where}, {first.error or 0:.2g} where {first.limit or 0:.2g} is allowed{more}"
    if not calls:
        return "no layer could be compared"
    judged = worst(free)
    call = next(call for (call, _, _), item in zip(calls, free, strict=True) if item is judged)
    layers = len({call.path for call, _, _ in calls})
    return (
        f"{layers} layers agree; the nearest to its limit is {call.path or 'the output'}: "
        f"{judged.error:.1e} where {judged.limit:.1e} is allowed"
    )


def _figures(
    passes: Passes,
    calls: Sequence[tuple[Call, str, int]],
    free: Sequence[Judged],
    alone: dict[str, Judged],
    moved: dict[str, Judged],
) -> dict[str, object]:
    ours = passes.candidate.by_path()
    layers = {
        (f"{call.path}#{number}" if number else call.path): {
            "free": _numbers(judged),
            "sha256": [[digest(a) for a in call.outputs], [digest(a) for a in ours[target][number].outputs]],
        }
        for (call, target, number), judged in zip(calls, free, strict=True)
    }
    for key, judged in alone.items():
        layers[key]["substituted"] = _numbers(judged)
    return {
        "layers": layers,
        "compared": len({call.path for call, _, _ in calls}),
        "of": len({call.path for call in passes.own.calls}),
        "statistics": {name: _numbers(judged) for name, judged in moved.items()},
    }


def _numbers(judged: Judged) -> dict[str, float]:
    return {"error": judged.error, "noise": judged.noise, "limit": judged.limit, "scale": judged.scale}
