"""What a source has besides operators, and how each goes over: as far as its recipe, modules and graph tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from luthier.port.findings import Finding, Outcome
from luthier.port.platforms import Mode, platforms_of

if TYPE_CHECKING:
    from luthier.port.graph import Network
    from luthier.recipe import Recipe

__all__ = ["DIFFICULTY", "Difficulty", "Feature", "features"]

Difficulty = Literal["none", "easy", "by hand"]
DIFFICULTY: Mapping[Outcome, Difficulty] = {"ported": "none", "composed": "easy", "refused": "by hand"}
FIELDS = {
    "optimizer": ("strategy.optimizer",),
    "loss": ("strategy.teacher",),
    "distribution": ("strategy.sync_batch_norm",),
    "stopping": ("stop.patience",),
    "listeners": ("listeners",),
    "data": ("data.name", "data.pipeline", "data.on_error"),
}


class Feature(Struct, frozen=True, kw_only=True):
    """Something of the source that is no operator."""

    name: str
    outcome: Outcome
    told: str
    modes: dict[Mode, bool]
    difficulty: Difficulty


def features(
    network: Network, findings: Sequence[Finding], unused: Sequence[str], recipe: Mapping[str, Any] | None
) -> tuple[Feature, ...]:
    """Those of the forward pass first, then those of the training, where a recipe tells of it."""
    found = [_feature(path, "refused", told) for path, told in network.notes]
    found += [_feature(name, "composed", told) for name, told in network.remarks]
    found += [_feature(name, outcome, told) for name, outcome, told in network.features]
    found += _at_run_time(findings)
    if network.ties:
        found.append(
            _feature("shared weights", "ported", ", ".join(f"{one} is {other}" for one, other in network.ties))
        )
    if unused:
        told = f"{len(unused)} arrays are never used in the forward pass and were left out, such as {unused[0]}"
        found.append(_feature("unused weights", "composed", told))
    return (*found, *(_trained(recipe) if recipe else ()))


def _feature(name: str, outcome: Outcome, told: str, *, in_graph: bool = True) -> Feature:
    modes = platforms_of(refused=outcome == "refused", in_graph=in_graph)
    return Feature(name=name, outcome=outcome, told=told, modes=modes, difficulty=DIFFICULTY[outcome])


def _at_run_time(findings: Sequence[Finding]) -> Iterator[Feature]:
    """What the emitted code reads out of a tensor while it runs, which no compiled graph can."""
    names = list(dict.fromkeys(finding.operator for finding in findings if not finding.in_graph))
    if names:
        told = f"{', '.join(names)}: numbers that the network computes itself are read as it runs"
        yield _feature("parameters at run time", "composed", told, in_graph=False)


def _trained(given: Mapping[str, Any]) -> Iterator[Feature]:
    """As a project made of the recipe has it; what that refuses is refused here."""
    from luthier.port.project.refusing import reasons
    from luthier.recipe import Recipe

    recipe = msgspec.convert(given, Recipe)
    refused = {field: f"a project cannot carry over {reason}. {hint}" for field, reason, hint in reasons(recipe)}
    told = _told(recipe)
    for name in (*told, *(name for name in FIELDS if name not in told)):
        wrong = [refused[field] for field in FIELDS.get(name, ()) if field in refused]
        if wrong:
            yield _feature(name, "refused", "; ".join(wrong))
        elif name in told:
            yield _feature(name, *told[name])


def _told(recipe: Recipe) -> dict[str, tuple[Outcome, str]]:
    """How each begins, and what becomes of it in a project."""
    strategy, model = recipe.strategy, recipe.model
    dense = f", {model.init_dense} for dense layers" if model.init_dense else ""
    optimizer, schedule = (str(record.__struct_config__.tag) for record in (strategy.optimizer, strategy.schedule))
    groups = len(strategy.optimizer.groups)
    warmup = f" after {strategy.schedule.warmup_epochs:g} epochs of warm-up" if strategy.schedule.warmup_epochs else ""
    smoothing = f" with label smoothing {strategy.label_smoothing}" if strategy.label_smoothing else ""
    found: dict[str, tuple[Outcome, str]] = {
        "initialisers": ("ported", f"{model.init}{dense}: whatever the weights are by now goes over as arrays"),
        "optimizer": (
            "composed" if groups else "ported",
            f"{optimizer}"
            + (f" with {groups} groups of parameters, with --recipe in src/optimizer.py" if groups else ""),
        ),
        "schedule": ("ported", f"{schedule}{warmup}: the rate of every step, with --recipe in src/learning_rate.py"),
        "loss": ("composed" if smoothing else "ported", f"cross entropy{smoothing}"),
    }
    if strategy.allreduce_split:
        told = f"gradients in {len(strategy.allreduce_split)} groups by allreduce_split, with --recipe in train.py"
        found["distribution"] = ("ported", told)
    return found
