"""An error as a person reads it: our sentence, and below it what the user's own code raised."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

import typer

from luthier.errors import LuthierError

__all__ = ["tell"]

PACKAGE = Path(__file__).parents[1]
NOT_THE_USERS = (PACKAGE, *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")))


def tell(error: LuthierError) -> None:
    """To standard error. A cause that lies in a library or in us is said in our sentence already."""
    typer.echo(f"{typer.style('error:', fg='red')} {error}", err=True)
    cause = error.__cause__
    if cause is None:
        return
    frames = _from_the_users_file(cause.__traceback__)
    if frames or _is_in_the_users_file(cause):
        typer.echo("\n" + "".join(traceback.format_exception(cause.with_traceback(frames))).rstrip(), err=True)


def _from_the_users_file(frames: TracebackType | None) -> TracebackType | None:
    while frames and not _is_the_users(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _is_in_the_users_file(cause: BaseException) -> bool:
    """A file that does not even compile has no frames."""
    return isinstance(cause, SyntaxError) and cause.filename is not None and _is_the_users(cause.filename)


def _is_the_users(file: str) -> bool:
    path = Path(file)
    return path.is_file() and not any(path.is_relative_to(place) for place in NOT_THE_USERS)
