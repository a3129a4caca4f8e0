"""The fourteen steps of MindSpore's migration guide, each done, not applicable with the reason, or failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from luthier.proof.verdict import Rung, Step

__all__ = ["STEPS", "checklist"]

STEPS: Sequence[tuple[str, tuple[str, ...], str]] = (  # name, the rungs that do it, why there may be none
    ("Determine the target", (), "no target accuracy or speed was given"),
    ("Reproduce the target", (), "the reference was not trained here: luthier train RECIPE does it"),
    ("Reproduce the single step", ("weights", "forward, training", "loss", "gradients", "optimizer steps"), ""),
    ("Analyse the script", (), "two finished networks were compared: luthier port --analyse reads a script"),
    ("Align the data", ("data",), "no data were given: give both sides a trainer with batches(), or a recipe"),
    ("Develop sub-networks", ("forward, evaluation", "gradients"), ""),
    ("Align the other modules", ("loss", "gradients", "learning rates", "optimizer steps"), ""),
    ("Compare hyper-parameters", ("structure", "learning rates", "further steps"), ""),
    ("Train on one device", ("further steps",), "no steps were asked for"),
    ("Train on many devices", (), "one process compares two networks: luthier train runs under msrun"),
    ("Infer", ("forward, evaluation", "metric"), ""),
    ("Locate problems", ("forward, evaluation", "forward, training", "gradients", "further steps"), ""),
    ("Tune the precision", ("forward, training", "gradients", "further steps"), ""),
    ("Tune the performance", (), "a proof compares numbers, not times: luthier profile does"),
)


def checklist(rungs: Sequence[Rung], given: Mapping[int, tuple[str, str]]) -> tuple[Step, ...]:
    """Filled from the rungs; `given` holds what else is known of a step: the reason and its evidence."""
    by_name = {rung.name: rung for rung in rungs}
    return tuple(_step(number, *item, by_name, given.get(number)) for number, item in enumerate(STEPS, start=1))


def _step(
    number: int,
    name: str,
    needed: tuple[str, ...],
    without: str,
    rungs: Mapping[str, Rung],
    given: tuple[str, str] | None,
) -> Step:
    if given:
        return Step(number=number, name=name, status="done", reason=given[0], evidence=(given[1],) if given[1] else ())
    found = [rungs[key] for key in needed if key in rungs]
    climbed = [rung for rung in found if rung.status in ("passed", "failed")]
    evidence = tuple(rung.evidence for rung in climbed if rung.evidence)
    failed = next((rung for rung in climbed if rung.status == "failed"), None)
    if failed:
        return Step(number=number, name=name, status="failed", reason=failed.sentence, evidence=evidence)
    missed = next((rung for rung in found if rung.status == "not reached"), None)
    if missed:
        reason = f"'{missed.name}' was not reached"
        return Step(number=number, name=name, status="not applicable", reason=reason, evidence=evidence)
    if not climbed:
        reason = without or next((rung.sentence for rung in found), "no rung does it")
        return Step(number=number, name=name, status="not applicable", reason=reason)
    told = "; ".join(f"{rung.name}: {rung.sentence}" for rung in climbed)
    return Step(number=number, name=name, status="done", reason=told, evidence=evidence)
