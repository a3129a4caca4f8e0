"""The kinds of generated parts: `<!-- generated: kind what -->` calls the function of that name with `what`."""

from __future__ import annotations

from collections.abc import Callable

from docs.architectures import architecture_table
from docs.commands import command_reference
from docs.house import error_tree, event_table, package_table
from docs.networks import initializer_table, network_section
from docs.onnx_nodes import node_summary, node_table
from docs.outputs import console, example, golden, recipe_source
from docs.proofs import fault_table
from docs.records import field_table, kind_table, result_table
from docs.words import Language

__all__ = ["KINDS", "block"]

Block = Callable[[str, Language], str]

KINDS: dict[str, Block] = {
    "architectures": lambda _, language: architecture_table(language),
    "commands": lambda _, language: command_reference(language),
    "console": lambda what, _: console(what),
    "errors": lambda _, __: error_tree(),
    "events": lambda _, language: event_table(language),
    "example": lambda what, _: example(what),
    "faults": lambda _, language: fault_table(language),
    "fields": field_table,
    "golden": lambda what, _: golden(what),
    "initializers": lambda _, language: initializer_table(language),
    "kinds": kind_table,
    "network": network_section,
    "nodes": lambda _, language: node_table(language),
    "nodesum": lambda _, language: node_summary(language),
    "packages": lambda _, language: package_table(language),
    "recipe": lambda what, _: recipe_source(what),
    "result": lambda _, language: result_table(language),
}


def block(kind: str, what: str, language: Language) -> str:
    """The part's text, without the markers."""
    if kind not in KINDS:
        raise ValueError(f"no generated part is called '{kind}'; there are {', '.join(KINDS)}")
    return KINDS[kind](what, language).strip("\n")
