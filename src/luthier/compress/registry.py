"""The formats by name. A new one is a file in `formats` whose function is marked with `writes`."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol

from luthier.compress.network import Network
from luthier.errors import ExportError, unknown

__all__ = ["Encoded", "Encoder", "encoder", "format_names", "writes"]


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """A file's bytes, and how far its outputs are from the network's where it has any."""

    data: bytes
    opset: int | None = None
    max_error: float | None = None


class Encoder(Protocol):
    """A format."""

    def __call__(self, network: Network, *, pixels: bool) -> Encoded:
        """The network's file; with `pixels` it takes bytes as an image file has them, and normalises by itself."""


_encoders: dict[str, Encoder] = {}


def writes(name: str) -> Callable[[Encoder], Encoder]:
    """Mark the function that writes a format."""
    if name in _encoders:
        raise ValueError(f"A format named '{name}' is registered already")

    def marked(function: Encoder) -> Encoder:
        _encoders[name] = function
        return function

    return marked


@cache
def _load() -> dict[str, Encoder]:
    package = import_module("luthier.compress.formats")
    for module in pkgutil.iter_modules(package.__path__, "luthier.compress.formats."):
        import_module(module.name)
    return _encoders


def format_names() -> tuple[str, ...]:
    """Every format that a network can be exported in."""
    return tuple(sorted(_load()))


def encoder(name: str) -> Encoder:
    """The function that writes the format."""
    if name not in _load():
        sentence, hint = unknown("format", name, format_names())
        raise ExportError(sentence, hint=hint)
    return _load()[name]
