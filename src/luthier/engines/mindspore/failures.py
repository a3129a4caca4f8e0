"""What MindSpore says of a network that it cannot run, with the user's line first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

import mindspore

from luthier.errors import LuthierError, ModelError
from luthier.zoo import FAULTS

__all__ = ["telling_failures"]

FRAME = re.compile(r"^# \d+ In file (?P<file>.+?):(?P<line>\d+), \S+\n(?P<code>.+)$", re.MULTILINE)
STACK = re.compile(r"^-+\n- .*(?:Stack|Traceback)", re.MULTILINE)
PLUMBING = ("<", str(Path(mindspore.__file__).parent), str(Path(__file__).parent))
FOREIGN = (RuntimeError, TypeError, ValueError, AttributeError, IndexError, KeyError, NameError, NotImplementedError)


@contextmanager
def telling_failures(name: str) -> Iterator[None]:
    """MindSpore raises a builtin error whose text is mostly its own call stack: that goes into the cause.

    A user's own network, `file.py:name`, may raise anything.
    """
    foreign = FAULTS if ":" in name else FOREIGN
    try:
        yield
    except LuthierError:
        raise
    except foreign as fault:
        said = _said(fault)
        place, code = _place(fault)
        raise ModelError(
            f"MindSpore cannot run {name}: {code + ': ' if code else ''}{said}", at=place or "model.name"
        ) from fault


def _said(fault: BaseException) -> str:
    """Its first paragraph; what follows are call stacks."""
    text = STACK.split(str(fault))[0].strip("-\n ")
    lines = (line.strip("- ") for line in text.split("\n\n")[0].splitlines())
    return " ".join(" ".join(filter(None, lines)).split()) or type(fault).__name__


def _place(fault: BaseException) -> tuple[str | None, str | None]:
    """The innermost line that is neither MindSpore's nor this engine's, from the compiler's report or the traceback."""
    reported = [(found["file"], int(found["line"]), found["code"].strip()) for found in FRAME.finditer(str(fault))]
    raised = [(frame.filename, frame.lineno or 0, frame.line or "") for frame in extract_tb(fault.__traceback__)]
    for frames in (reported, raised):
        found = _innermost(frames)
        if found:
            file, line, code = found
            return f"{file}:{line}", code
    return None, None


def _innermost(frames: Sequence[tuple[str, int, str]]) -> tuple[str, int, str] | None:
    return next((frame for frame in reversed(frames) if not frame[0].startswith(PLUMBING)), None)
