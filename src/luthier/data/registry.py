"""The sources by name. A new one is a module in `sources` that calls `register`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

from luthier.data.checking import checked
from luthier.data.downloads import Download
from luthier.data.entry import Entry, Opener, Outline
from luthier.data.own import is_own, open_own
from luthier.data.places import Place
from luthier.data.source import Source
from luthier.errors import DataError, LuthierError, unknown

__all__ = ["downloadable", "names", "open_source", "outline_of", "register", "registered"]

_entries: dict[str, Entry] = {}


def register(name: str, opener: Opener, *, download: Download | None = None, outline: Outline | None = None) -> None:
    """Make a source known by its name."""
    if name in _entries:
        raise ValueError(f"A source named '{name}' is registered already")
    _entries[name] = Entry(opener=opener, download=download, outline=outline)


@cache
def _load() -> dict[str, Entry]:
    sources = import_module("luthier.data.sources")
    for module in pkgutil.iter_modules(sources.__path__, "luthier.data.sources."):
        import_module(module.name)
    return _entries


def names() -> tuple[str, ...]:
    """Every source that a recipe can name."""
    return tuple(sorted(_load()))


def downloadable() -> tuple[str, ...]:
    """Every source that `get` can fetch."""
    return tuple(name for name in names() if _load()[name].download)


def registered(name: str, *, at: str | None = None) -> Entry:
    """The entry of that name, or the error with the nearest; `at` is the field that names it."""
    if name not in _load():
        sentence, hint = unknown("data set", name, names())
        raise DataError(sentence, at=at, hint=f"{hint} Your own are file.py:factory, or class folders under 'folder'.")
    return _load()[name]


def outline_of(name: str) -> Outline | None:
    """What is known of a set before it is opened."""
    return None if is_own(name) else registered(name, at="data.name").outline


def open_source(name: str, *, path: str = "", root: str | Path | None = None, at: str | None = None) -> Source:
    """The data set as its files have it; `at` is the field that names it, where one does."""
    try:
        if is_own(name):
            return checked(open_own(name, path=path))
        return checked(registered(name, at=at).opener(Place(name=name, path=path, root=root)))
    except LuthierError:
        raise
    except OSError as error:  # a file or a folder that is there, and may not be read
        place = str(error.filename or path or name)
        raise DataError(f"Could not read the data set: {error.strerror or error}", at=place) from error
