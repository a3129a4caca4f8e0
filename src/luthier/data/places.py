"""Where data sets are looked for: the folder that was named, LUTHIER_DATA, the user's cache."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from luthier.errors import MissingData

__all__ = ["ENVIRONMENT", "Place", "roots"]

ENVIRONMENT = "LUTHIER_DATA"


def roots(root: str | Path | None = None) -> tuple[Path, ...]:
    """A root that was named is the only one: falling back would train on other data than the user meant."""
    if root is not None:
        return (Path(root).expanduser(),)
    named = os.environ.get(ENVIRONMENT)
    return (*((Path(named).expanduser(),) if named else ()), _cache())


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("luthier")) / "data"


@dataclass(frozen=True, kw_only=True)
class Place:
    """What a source is told: the name it was asked by, the recipe's `data.path`, and the data root if one was named."""

    name: str
    path: str = ""
    root: str | Path | None = None

    def folders(self, *names: str) -> tuple[Path, ...]:
        """The folders that may hold the set, best first: `data.path`, or those of the given names in each root."""
        if self.path:
            given = Path(self.path).expanduser()
            below = () if given.is_absolute() else tuple(root / given for root in roots(self.root))
            return (given, *below)
        return tuple(root / name for root in roots(self.root) for name in names)

    def search(self, names: tuple[str, ...], inner: tuple[str, ...]) -> Iterator[Path]:
        """Each folder that is there, followed by the publisher's own folders inside it."""
        for folder in self.folders(*names):
            yield from (inside for inside in (folder, *(folder / name for name in inner)) if inside.is_dir())

    def missing(self) -> MissingData:
        """The error that says where was looked."""
        command = f"luthier data get {self.name}"
        if self.root is not None:  # by itself it would fetch to where this does not look
            command += f" --data-root {shlex.quote(str(self.root))}"
        looked = " or ".join(str(folder) for folder in self.folders(self.name))
        return MissingData(
            f"Data set '{self.name}' was not found in {looked}",
            hint=f"Run `{command}`, or set data.path to the folder that holds it.",
        )
