"""From a step's stack trace to the line of the source, and to the names that the line gives."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from luthier.port.graph import Statement

__all__ = ["Frame", "frames", "places_of", "statement_at"]

FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in ')
Frame = tuple[str, int]
Place = tuple[str, int, int]


def frames(trace: str | None) -> list[Frame]:
    """Outermost first."""
    return [(found["file"], int(found["line"])) for found in FRAME.finditer(trace or "")]


@cache
def places_of(kind: type) -> tuple[Place, ...]:
    """The file and the lines of a class and of those that it derives from."""
    found = []
    for base in kind.__mro__[:-1]:
        if base.__module__ == "torch.nn.modules.module":
            break
        try:
            lines, first = inspect.getsourcelines(base)
            found.append((str(inspect.getsourcefile(base)), first, first + len(lines)))
        except (OSError, TypeError):
            continue
    return tuple(found)


def statement_at(trace: Sequence[Frame], within: Sequence[Place] | None) -> Statement | None:
    """The innermost frame's statement; `within` asks for the innermost one in these places."""
    for file, line in reversed(trace):
        if within is None or any(file == place and first <= line < last for place, first, last in within):
            return _lines(file)(line)
    return None


@cache
def _lines(file: str) -> Callable[[int], Statement]:
    """Which simple statement stands on a line."""
    try:
        tree = ast.parse(Path(file).read_text("utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return lambda line: Statement(file=file, line=line)
    simple = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body")]

    @cache
    def found(line: int) -> Statement:
        for node in simple:
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                return Statement(file=file, line=node.lineno, targets=_targets(node))
        return Statement(file=file, line=line)

    return found


def _targets(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=items)]) if all(isinstance(item, ast.Name) for item in items):
            return tuple(item.id for item in items if isinstance(item, ast.Name))
        case (
            ast.Assign(targets=[ast.Name(id=name)])
            | ast.AugAssign(target=ast.Name(id=name))
            | ast.AnnAssign(target=ast.Name(id=name))
        ):
            return (name,)
    return ()
