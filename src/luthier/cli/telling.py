"""An error as a person reads it: our sentence, and below it what the user's own code raised."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from traceback import StackSummary, TracebackException

import typer

from luthier.errors import LuthierError

__all__ = ["tell"]

PACKAGE = Path(__file__).parents[1]
NOT_THE_USERS = (PACKAGE, *(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")))
STACKS = re.compile(r"\n\s*-{20,}\n- .*", re.DOTALL)  # that MindSpore adds to a message, for its own developers


def tell(error: LuthierError) -> None:
    """To standard error. A cause that lies in a library or in us is said in our sentence already."""
    typer.echo(f"{typer.style('error:', fg='red')} {error}", err=True)
    cause = error.__cause__
    if cause is None:
        return
    raised = TracebackException.from_exception(cause)
    _keep_the_users(raised)
    if raised.stack or _is_in_the_users_file(cause):
        typer.echo("\n" + STACKS.sub("", "".join(raised.format()).rstrip()), err=True)


def _keep_the_users(raised: TracebackException) -> None:
    """The frames in the user's own files alone, of it and of what led to it as long as that has any."""
    raised.stack = StackSummary.from_list([frame for frame in raised.stack if _is_the_users(frame.filename)])
    for name in ("__cause__", "__context__"):
        before = getattr(raised, name)
        if before is not None:
            _keep_the_users(before)
            setattr(raised, name, before if before.stack else None)


def _is_in_the_users_file(cause: BaseException) -> bool:
    """A file that does not even compile has no frames."""
    return isinstance(cause, SyntaxError) and cause.filename is not None and _is_the_users(cause.filename)


def _is_the_users(file: str) -> bool:
    path = Path(file)
    # Unlike Path's, os.path's question is answered with no where a folder may not be read.
    return os.path.isfile(file) and not any(path.is_relative_to(place) for place in NOT_THE_USERS)
