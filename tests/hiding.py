"""A machine without some packages: for child processes, whose imports, specs and metadata do not find them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["without"]

HIDER = """
import os, sys
from importlib.machinery import PathFinder

HIDDEN = os.environ["HIDDEN_PACKAGES"].split(",")

class Hider(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in HIDDEN else PathFinder.find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, context):
        return () if context.name in HIDDEN else PathFinder.find_distributions(context)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hider
"""


def without(folder: Path, *names: str) -> dict[str, str]:
    """The environment variables of such a process; `folder` takes a file for it."""
    place = folder / "hiding"
    place.mkdir(exist_ok=True)
    (place / "sitecustomize.py").write_text(HIDER, "utf-8")
    places = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"HIDDEN_PACKAGES": ",".join(names), "PYTHONPATH": os.pathsep.join(places)}
