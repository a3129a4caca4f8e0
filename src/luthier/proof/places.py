"""The line of source that made a layer."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from luthier.proof.verdict import Place

__all__ = ["place_of", "recording_places"]

MARK = "_luthier_place"


@contextmanager
def recording_places(base: type) -> Iterator[None]:
    """Each layer built inside remembers the line that called its class; `base` is Module or Cell."""
    original: Any = vars(base)["__init__"]
    library = str(Path(inspect.getfile(base)).parents[1])

    def remembering(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        frame = sys._getframe(1)
        while frame.f_back and (_is_within(frame, self) or frame.f_code.co_filename.startswith(library)):
            frame = frame.f_back
        vars(self)[MARK] = (frame.f_code.co_filename, frame.f_lineno)

    base.__init__ = remembering  # type: ignore[misc]
    try:
        yield
    finally:
        base.__init__ = original  # type: ignore[misc]


def _is_within(frame: Any, layer: Any) -> bool:
    """Whether the frame is a method of the layer itself, such as its class's own `__init__`."""
    names = frame.f_code.co_varnames
    return bool(names) and frame.f_locals.get(names[0]) is layer


def place_of(layer: Any, parent: Any, attribute: str) -> Place | None:
    """Where it was built, or else where its parent's class names the attribute."""
    if MARK in vars(layer):
        return _place(*vars(layer)[MARK])
    for owner in (parent, layer):
        found = _in_source(type(owner), attribute) if owner is not None else None
        if found:
            return found
    return None


def _in_source(kind: type, attribute: str) -> Place | None:
    try:
        file = inspect.getsourcefile(kind)
        lines, start = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        return None
    if file is None:
        return None
    named = re.compile(rf"self\.{re.escape(attribute)}\b[^=\n]*=|[\"']{re.escape(attribute)}[\"']")
    offset = next((i for i, line in enumerate(lines) if attribute and named.search(line)), 0)
    return _place(file, start + offset)


def _place(file: str, line: int) -> Place:
    text = linecache.getline(file, line).strip()
    near = os.path.relpath(file)
    return Place(at=f"{file if near.startswith('..') else near}:{line}", text=text)
