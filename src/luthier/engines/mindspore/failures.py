"""What MindSpore says of a network that it cannot run, with the user's line first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import getsourcelines
from pathlib import Path
from textwrap import dedent
from traceback import extract_tb

import mindspore
from mindspore import nn

from luthier.errors import LuthierError, ModelError
from luthier.zoo import FAULTS

__all__ = ["telling_failures"]

FRAME = re.compile(r"^# \d+ In file (?P<file>.+?):(?P<line>\d+), \S+\n(?P<code>.+)$", re.MULTILINE)
SELECTED = re.compile(r"^In file (?P<file>.+?):(?P<line>\d+), \d+~\d+/(?P<code>.*)/$", re.MULTILINE)  # innermost first
STATEMENT = re.compile(r"Unsupported statement '(\w+)'")
NO_MANAGER = "issubclass() arg 1 must be a class"  # of a `with` over anything but a class of the user's own
ADVICE = ", Please confirm whether the device target"  # and a link to its pages
STACK = re.compile(r"^-+\n- .*(?:Stack|Traceback)", re.MULTILINE)
PLUMBING = ("<", str(Path(mindspore.__file__).parent), str(Path(__file__).parent))
FOREIGN = (RuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError, NameError, NotImplementedError)


@contextmanager
def telling_failures(name: str, cell: nn.Cell | None = None) -> Iterator[None]:
    """MindSpore raises a builtin error whose text is mostly its own call stack: that goes into the cause.

    A user's own network, `file.py:name`, may raise anything; `cell` is it, once it is built.
    """
    foreign = FAULTS if ":" in name else FOREIGN
    try:
        yield
    except LuthierError:
        raise
    except foreign as fault:
        said = _said(fault)
        place, code = _place(fault, cell if ":" in name else None)
        raise ModelError(
            f"MindSpore cannot run {name}: {code.rstrip(':') + ': ' if code else ''}{said}", at=place or "model.name"
        ) from fault


def _said(fault: BaseException) -> str:
    """Its first paragraph; what follows are call stacks."""
    if str(fault).startswith(NO_MANAGER):
        return "a graph has no `with` but over a class of your own"
    text = STACK.split(str(fault))[0].partition(ADVICE)[0].strip("-\n ")
    lines = (line.strip("- ") for line in text.split("\n\n")[0].splitlines())
    return " ".join(" ".join(filter(None, lines)).split()) or type(fault).__name__


def _place(fault: BaseException, cell: nn.Cell | None) -> tuple[str | None, str | None]:
    """The innermost line that is neither MindSpore's nor this engine's, from the compiler's report or the traceback.

    Where none is told, the statement that is complained of, or the `construct` that was compiled.
    """
    told = str(fault)
    compiled = [(found["file"], int(found["line"]), found["code"].strip()) for found in FRAME.finditer(told)]
    selected = [(found["file"], int(found["line"]), found["code"].strip()) for found in SELECTED.finditer(told)]
    raised = [(frame.filename, frame.lineno or 0, frame.line or "") for frame in extract_tb(fault.__traceback__)]
    for frames in (compiled, selected[::-1], raised):
        found = _innermost(frames)
        if found:
            file, line, code = found
            return f"{file}:{line}", code
    return _statement(told, cell) if cell is not None else (None, None)


def _innermost(frames: Sequence[tuple[str, int, str]]) -> tuple[str, int, str] | None:
    return next((frame for frame in reversed(frames) if not frame[0].startswith(PLUMBING)), None)


def _statement(told: str, network: nn.Cell) -> tuple[str | None, str | None]:
    """In the first of the network's own `construct`s that has it; else in the network's."""
    kind = "With" if told.startswith(NO_MANAGER) else found[1] if (found := STATEMENT.search(told)) else None
    constructs = dict.fromkeys(type(cell).construct for _, cell in network.cells_and_names())
    for construct in [each for each in constructs if not each.__code__.co_filename.startswith(PLUMBING)]:
        lines, first = getsourcelines(construct)
        if kind is None:
            return f"{construct.__code__.co_filename}:{first}", lines[0].strip()
        for node in ast.walk(ast.parse(dedent("".join(lines)))):
            if type(node).__name__ == kind and isinstance(node, ast.stmt):
                place = f"{construct.__code__.co_filename}:{first + node.lineno - 1}"
                return place, lines[node.lineno - 1].strip()
    return None, None
