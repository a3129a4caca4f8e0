"""The project's files as templates: Python with `%if`, `%elif`, `%else` and `%end` lines, and `{{names}}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["Values", "rendered"]

Values = Mapping[str, object]  # a condition holds where its value is true

HOLE = re.compile(r"\{\{(\w+)\}\}")
MARK = re.compile(r"%(if|elif|else|end)\b ?(\w*)")


def rendered(name: str, values: Values) -> str:
    """The template of that name, with what does not apply left out."""
    kept: list[str] = []
    stack: list[list[bool]] = []  # of each open block: whether its branch is taken, and whether one was before
    for line in _text(name).splitlines():
        mark = MARK.fullmatch(line)
        if mark is None:
            if all(taken for taken, _ in stack):
                kept.append(HOLE.sub(lambda hole: str(values[hole[1]]), line))
            continue
        kind, condition = mark.groups()
        if kind == "if":
            holds = bool(values[condition])
            stack.append([holds, holds])
        elif kind == "end":
            stack.pop()
        else:
            holds = not stack[-1][1] and (kind == "else" or bool(values[condition]))
            stack[-1] = [holds, stack[-1][1] or holds]
    assert not stack, f"{name}: a block is left open"
    return "\n".join(kept) + "\n"


@cache
def _text(name: str) -> str:
    return files("luthier.port.project").joinpath("templates", f"{name}.in").read_text("utf-8")
