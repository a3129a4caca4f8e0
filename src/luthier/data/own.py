"""The user's own source, as file.py:factory."""

from __future__ import annotations

from luthier.data.memory import arrays
from luthier.data.source import Source
from luthier.errors import DataError, LuthierError

__all__ = ["is_own", "open_own"]

WANTED = "a Source, or a tuple of images, labels, eval_images, eval_labels and, if named, classes"


def is_own(name: str) -> bool:
    """Whether a name means a file of the user's rather than a source of ours."""
    return ".py:" in name


def open_own(name: str, *, path: str = "") -> Source:
    """What the factory returns; it is called with the recipe's `data.path` where there is one."""
    from luthier.zoo import FAULTS, beside, load_object, raised

    factory = load_object(name, at="data.name", error=DataError)
    if not callable(factory):
        raise DataError(f"Expected a function that returns {WANTED}, got {type(factory).__name__}", at=name)
    try:
        with beside(name):
            made = factory(path) if path else factory()
    except LuthierError:
        raise
    except FAULTS as error:  # whatever the user's code does wrong; its traceback stays below ours
        raise DataError(f"The factory raised {raised(error)}", at=name) from error
    if isinstance(made, Source):
        return made
    if isinstance(made, tuple) and len(made) in (4, 5):
        return arrays(*made[:4], classes=made[4] if len(made) == 5 else None, name=name)
    raise DataError(f"Expected {WANTED}, got {_described(made)}", at=name)


def _described(made: object) -> str:
    kind = type(made).__name__
    return f"{kind} of {len(made)}" if isinstance(made, tuple) else kind
