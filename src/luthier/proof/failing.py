"""A candidate that cannot run, with the line of the user's that it fails at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from luthier.errors import LuthierError
from luthier.proof.verdict import Place

__all__ = ["CandidateFailed", "telling"]


class CandidateFailed(Exception):
    """The framework's own first sentence, and the user's line."""

    def __init__(self, said: str, place: Place | None, layer: str) -> None:
        self.place = place
        self.layer = layer
        super().__init__(said)


@contextmanager
def telling(plumbing: tuple[str, ...], layer: str = "") -> Iterator[None]:
    """`plumbing` are folders whose lines are not the user's."""
    try:
        yield
    except (LuthierError, CandidateFailed, KeyboardInterrupt, MemoryError):
        raise
    except Exception as fault:  # whatever a framework raises of the user's network
        frames = [f for f in extract_tb(fault.__traceback__) if not f.filename.startswith(plumbing)]
        place = None
        if frames:
            last = frames[-1]
            place = Place(at=f"{_near(last.filename)}:{last.lineno}", text=(last.line or "").strip())
        paragraph = str(fault).strip().split("\n\n")[0].split("\n---")[0]
        said = " ".join(paragraph.split())[:300] or type(fault).__name__
        raise CandidateFailed(f"{type(fault).__name__}: {said}", place, layer) from fault


def _near(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
