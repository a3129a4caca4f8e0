"""The classes as the text of a Python file that imports MindSpore alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from luthier.port.classes import Class
from luthier.port.emit import Emit
from luthier.port.helpers import HELPERS, needed
from luthier.port.naming import NONE
from luthier.port.rendering import Rendering
from luthier.port.statements import Assign, Loop, looped
from luthier.port.trees import changed
from luthier.port.wrapping import wrapped

__all__ = ["Written", "lines_by_path", "written"]


@dataclass(kw_only=True)
class Written:
    """A file's text, and the line of each class's members in it."""

    text: str
    class_name: str
    lines: dict[tuple[str, str], int] = field(default_factory=dict)  # class name and attribute
    class_lines: dict[str, int] = field(default_factory=dict)


def written(made: Sequence[Class], *, origin: str) -> Written:
    """The whole file; the network's own class stands last."""
    rendering = Rendering({one.name: one.parameters for one in made})
    helpers = needed(helper for one in made for helper in _helpers(one))
    body: list[str] = []
    found = Written(text="", class_name=made[-1].name)
    blocks = [HELPERS[name].strip("\n").split("\n") for name in helpers]
    marks: list[dict[str, int]] = [{} for _ in helpers]
    for one in made:
        lines, places = _class(one, rendering)
        blocks.append(lines)
        marks.append(places)
    head = [f'"""{made[-1].name}, ported from {origin}."""', ""]
    code = "\n".join(line for block in blocks for line in block)
    head += _imports(code)
    for block, places in zip(blocks, marks, strict=True):
        body += ["", ""]
        start = len(head) + len(body) + 1
        body += block
        for name, offset in places.items():
            if name.startswith("class "):
                found.class_lines[name.removeprefix("class ")] = start + offset
            else:
                found.lines[tuple(name.split("\n"))] = start + offset  # type: ignore[index]
    found.text = "\n".join([*head, *body]) + "\n"
    return found


def _imports(code: str) -> list[str]:
    lines = []
    if "math." in code:
        lines += ["import math"]
    if "OrderedDict(" in code:
        lines += ["from collections import OrderedDict"]
    if lines:
        lines.append("")
    if "np." in code:
        lines += ["import numpy as np"]
    if re.search(r"\bms\.", code):
        lines.append("import mindspore as ms")
    names = [
        name for name in ("Parameter", "Tensor") if f"{name}(" in code or f": {name}" in code or f"-> {name}" in code
    ]
    names += [name for name in ("nn", "ops") if f"{name}." in code]
    if "Tensor" not in names and "Tensor" in code:
        names = sorted([*names, "Tensor"], key=lambda name: (name[0].islower(), name))
    lines.append(f"from mindspore import {', '.join(names)}")
    if "@constexpr" in code:
        lines.append("from mindspore.ops import constexpr")
    return lines


def _helpers(one: Class) -> list[str]:
    found: list[str] = []

    def keep(leaf: Any) -> Any:
        if isinstance(leaf, Emit):
            found.extend(leaf.helpers)
        return leaf

    changed(tuple(one.members.values()), keep)
    for line in one.body or ():
        changed(line.value, keep)
    for parameter in one.parameters:
        changed(parameter.default, keep)
    return found


def _class(one: Class, rendering: Rendering) -> tuple[list[str], dict[str, int]]:
    lines = [f"class {one.name}({'nn.SequentialCell' if one.sequential else 'nn.Cell'}):"]
    places = {f"class {one.name}": 0}
    if one.module.document:
        lines += [*_document(one.module.document), ""]
    arguments = "".join(
        f", {item.name}: {item.type}" + ("" if item.default is NONE else f" = {rendering.text(item.default)}")
        for item in one.parameters
    )
    lines += wrapped(f"def __init__(self{arguments}) -> None:", 4)
    lines += _members(one, rendering, places, len(lines))
    if one.body is not None and not one.sequential:
        lists = {
            name: len(member.args[0].args)
            for name, member in one.members.items()
            if isinstance(member, Emit) and member.target == "nn.CellList"
        }
        inputs = "".join(f", {name}: Tensor" for name in one.inputs)
        lines += ["", *wrapped(f"def construct(self{inputs}) -> {_result(one.body)}:", 4)]
        for statement in looped(one.body, lists):
            lines += _statement(statement, rendering, 8)
    return lines, places


def _document(text: str) -> list[str]:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if len(text) <= 110:
        return [f'    """{text}"""']
    first, *rest = _filled(text, 112)
    return [f'    """{first}', *(f"    {line}" for line in rest), '    """']


def _filled(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)


def _members(one: Class, rendering: Rendering, places: dict[str, int], offset: int) -> list[str]:
    lines: list[str] = []
    if one.sequential:
        inner = ", ".join(rendering._items(list(one.members.values())))
        return wrapped(f"super().__init__({inner})", 8)
    lines.append("        super().__init__()")
    for name, value in one.locals:
        lines.append(f"        {name} = {rendering.text(value)}")
    for name, member in one.members.items():
        places[f"{one.name}\n{name}"] = offset + len(lines)
        if isinstance(member, Emit) and member.note:
            lines.append(f"        # {member.note}")
            places[f"{one.name}\n{name}"] += 1
        access = f"self.{name}" if name.isidentifier() else None
        text = rendering.text(member)
        if access is None:
            lines += wrapped(f'self.insert_child_to_cell("{name}", {text})', 8)
        elif isinstance(member, Emit) and member.target == "if" and len(text) + len(access) + 11 > 120:
            condition, then, other = member.args
            lines += wrapped(f"{access} = {rendering.text(other)}", 8)
            lines.append(f"        if {rendering.text(condition)}:")
            lines += wrapped(f"{access} = {rendering.text(then)}", 12)
        else:
            lines += wrapped(f"{access} = {text}", 8)
    for second, first in one.ties:
        lines += wrapped(f"{rendering.text(second)} = {rendering.text(first)}", 8)
    return lines


def _result(body: Sequence[Assign]) -> str:
    value = body[-1].value
    if isinstance(value, tuple) or (isinstance(value, Emit) and value.target == "tuple"):
        return f"tuple[{', '.join('Tensor' for _ in (value if isinstance(value, tuple) else value.args))}]"
    return "dict[str, Tensor]" if isinstance(value, Emit) and value.target == "dict" else "Tensor"


def _statement(statement: Assign | Loop, rendering: Rendering, indent: int) -> list[str]:
    if isinstance(statement, Loop):
        lines = [" " * indent + f"for {statement.variable} in {rendering.text(statement.cells)}:"]
        return lines + [line for inner in statement.body for line in _statement(inner, rendering, indent + 4)]
    lines = [f"{' ' * indent}# {statement.note}"] if statement.note else []
    text = rendering.text(statement.value)
    if not statement.targets:
        if isinstance(statement.value, tuple) and len(statement.value) > 1:
            text = text[1:-1]
        return lines + wrapped(f"return {text}", indent)
    return lines + wrapped(f"{', '.join(statement.targets)} = {text}", indent)


def lines_by_path(made: Sequence[Class], found: Written) -> Mapping[str, int]:
    """Where each module of the source stands in the file: the line that builds it, or its class."""
    places: dict[str, int] = {"": found.class_lines[made[-1].name]}
    for one in made:
        for path in one.paths:
            for (owner, name), line in found.lines.items():
                if owner == one.name:
                    places.setdefault(f"{path}.{name}".lstrip("."), line)
    return places
