"""What became of the source, operator by operator and module by module, as one record with a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from luthier.port.findings import Finding, Outcome
from luthier.port.graph import Module, Network
from luthier.port.manifest import Layer
from luthier.port.platforms import Mode, platforms_of

__all__ = ["Feature", "Node", "Operator", "Report", "report_schema", "reported"]

Difficulty = Literal["none", "easy", "by hand"]
Color = Literal["green", "yellow", "red"]
DIFFICULTY: Mapping[Outcome, Difficulty] = {"ported": "none", "composed": "easy", "refused": "by hand"}
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


class Feature(Struct, frozen=True, kw_only=True):
    """Something of the source that is no operator."""

    name: str
    outcome: Outcome
    told: str


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


def reported(network: Network, findings: Sequence[Finding], layers: Sequence[Layer], unused: Sequence[str]) -> Report:
    """Put the findings together."""
    groups: dict[tuple[str, Outcome, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.operator, finding.outcome, finding.reason), []).append(finding)
    operators = tuple(_operator(found) for _, found in sorted(groups.items()))
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    return Report(
        complete=not network.notes and all(operator.outcome != "refused" for operator in operators),
        operators=operators,
        features=_features(network, unused),
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
        modes=platforms_of(first.operator, refused=outcome == "refused"),
        difficulty=DIFFICULTY[outcome],
        note=first.note,
        reason=first.reason,
        hint=first.hint,
        at=tuple(dict.fromkeys(finding.at for finding in found))[:5],
    )


def _features(network: Network, unused: Sequence[str]) -> tuple[Feature, ...]:
    found = [Feature(name=path, outcome="refused", told=told) for path, told in network.notes]
    found += [Feature(name=name, outcome="composed", told=told) for name, told in network.remarks]
    if network.ties:
        names = ", ".join(f"{one} is {other}" for one, other in network.ties)
        found.append(Feature(name="shared weights", outcome="ported", told=names))
    if unused:
        found.append(
            Feature(
                name="unused weights",
                outcome="composed",
                told=f"{len(unused)} arrays are never used in the forward pass and were left out, such as {unused[0]}",
            )
        )
    return tuple(found)


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
