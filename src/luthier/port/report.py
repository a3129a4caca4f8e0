"""What became of the source, operator by operator and module by module, as one record with a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from luthier.port.features import DIFFICULTY, Difficulty, Feature, features
from luthier.port.findings import Finding, Outcome
from luthier.port.graph import Module, Network
from luthier.port.manifest import Layer
from luthier.port.platforms import Mode, platforms_of

__all__ = ["Node", "Operator", "Report", "report_schema", "reported"]

Color = Literal["green", "yellow", "red"]
COLOR: Mapping[Outcome, Color] = {"ported": "green", "composed": "yellow", "refused": "red"}


class Operator(Struct, frozen=True, kw_only=True):
    """One operator of the source, over all its uses."""

    name: str
    count: int
    outcome: Outcome
    target: str
    modes: dict[Mode, bool]  # whether it runs in GRAPH and in PYNATIVE
    difficulty: Difficulty
    note: str = ""
    reason: str = ""
    hint: str = ""
    at: tuple[str, ...] = ()  # the first places


class Node(Struct, frozen=True, kw_only=True):
    """A module in the tree."""

    path: str
    source_class: str
    color: Color
    source_line: str
    emitted_line: str
    operators: tuple[str, ...] = ()
    children: tuple[Node, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """All of it. `complete` says that nothing was refused."""

    complete: bool
    operators: tuple[Operator, ...]
    features: tuple[Feature, ...]
    tree: Node
    unused: tuple[str, ...]  # weights that the forward pass never touches


def report_schema() -> dict[str, Any]:
    """For those who read `report.json`."""
    return msgspec.json.schema(Report)


def reported(
    network: Network,
    findings: Sequence[Finding],
    layers: Sequence[Layer],
    unused: Sequence[str],
    recipe: Mapping[str, Any] | None = None,
) -> Report:
    """Put the findings together."""
    groups: dict[tuple[str, Outcome, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.operator, finding.outcome, finding.reason), []).append(finding)
    operators = tuple(_operator(found) for _, found in sorted(groups.items()))
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    return Report(
        complete=not network.notes
        and all(outcome != "refused" for _, outcome, _ in network.features)
        and all(operator.outcome != "refused" for operator in operators),
        operators=operators,
        features=features(network, findings, unused, recipe),
        tree=_node(network.module, by_path, {layer.path: layer for layer in layers}),
        unused=tuple(unused),
    )


def _operator(found: Sequence[Finding]) -> Operator:
    first = found[0]
    composed = any(finding.outcome == "composed" for finding in found)
    outcome: Outcome = "composed" if composed else first.outcome
    return Operator(
        name=first.operator,
        count=len(found),
        outcome=outcome,
        target=", ".join(sorted({finding.target for finding in found if finding.target})),
        modes=platforms_of(refused=outcome == "refused", in_graph=all(finding.in_graph for finding in found)),
        difficulty=DIFFICULTY[outcome],
        note=first.note,
        reason=first.reason,
        hint=first.hint,
        at=tuple(dict.fromkeys(finding.at for finding in found))[:5],
    )


def _node(module: Module, findings: Mapping[str, Sequence[Finding]], layers: Mapping[str, Layer]) -> Node:
    children = tuple(_node(child, findings, layers) for child in module.children.values())
    own = findings.get(module.path, ())
    colors = [COLOR[finding.outcome] for finding in own] + [child.color for child in children]
    worst: Color = "red" if "red" in colors else "yellow" if "yellow" in colors else "green"
    layer = layers.get(module.path)
    return Node(
        path=module.path,
        source_class=module.class_name,
        color=worst,
        source_line=layer.source_line if layer else module.built_at,
        emitted_line=layer.emitted_line if layer else "",
        operators=tuple(dict.fromkeys(finding.operator for finding in own)),
        children=children,
    )
