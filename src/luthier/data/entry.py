"""What is registered for a source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from luthier.data.downloads import Download
from luthier.data.places import Place
from luthier.data.source import Source

__all__ = ["Entry", "Opener", "Outline"]

Opener = Callable[[Place], Source]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What is known of a set without its files, where it is the same for everybody."""

    shape: tuple[int, int, int]  # height, width, channels
    classes: tuple[str, ...]
    num_train: int


@dataclass(frozen=True, kw_only=True)
class Entry:
    """How a source is opened and, where its publisher lets it, fetched."""

    opener: Opener
    download: Download | None = None
    outline: Outline | None = None
