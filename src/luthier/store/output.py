"""Files that a user asks for by `-o`: refused before the work where they cannot be, and there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from luthier.errors import RecipeError, StoreError, nearest
from luthier.store.durable import replace_file

__all__ = ["make_place", "write_picture"]

PICTURES = (".jpeg", ".jpg", ".pdf", ".png", ".webp")


def make_place(path: Path, such_as: str) -> None:
    """Make the folder that it goes into: before the work, so that a path that cannot be written costs none."""
    if path.is_dir():
        raise RecipeError(f"Expected a file to write, {path} is a folder", hint=f"Such as: {path / such_as}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"Could not make the folder of {path.name}: {error.strerror}", at=str(path.parent)) from error


def write_picture(path: Path | str, draw: Callable[[BinaryIO, str], object], *, more: tuple[str, ...] = ()) -> Path:
    """`draw` is given a file and the format's name, and is not called where the picture could not be written."""
    path = Path(path)
    kinds, suffix = sorted((*PICTURES, *more)), path.suffix.lower()
    if suffix not in kinds and not path.is_dir():
        meant = nearest(suffix, kinds) if suffix else None
        hint = f"Perhaps you meant '{path.with_suffix(meant)}'." if meant else f"Known: {', '.join(kinds)}."
        raise RecipeError(f"Expected a picture such as {path.stem}.png, got '{path.name}'", at="--output", hint=hint)
    make_place(path, "picture.png")
    drawn = BytesIO()
    draw(drawn, {"jpg": "jpeg"}.get(suffix[1:], suffix[1:]))
    replace_file(path, drawn.getvalue())
    return path
