"""One writer a run: a second one would mix two trainings. Readers need no leave, and a killed writer leaves no lock."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from luthier.errors import RunInUse
from luthier.store.durable import could_not_write

__all__ = ["writing"]

MARK = ".writer"
WITHOUT_LOCKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS)  # some network file systems

_held: set[int] = set()


class Writer(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes: what the sentence needs, and where files cannot be locked what tells the living from the dead."""

    pid: int
    host: str
    since: str
    started: str | None  # the process's own start, since a number is given out again


@contextmanager
def writing(run: Path) -> Iterator[None]:
    """Be the one writer of a run's folder; the system lets go of the lock when the process ends, however it ends."""
    path = run / MARK
    descriptor = _acquired(path)
    _held.add(descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        _held.discard(descriptor)
        os.close(descriptor)


def _let_go() -> None:
    """A child that lives on longer is no writer."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _acquired(path: Path) -> int:
    """The writer before may remove its mark between our opening and our locking it: then once more."""
    while True:
        descriptor = _opened(path)
        try:
            if not _is_free(descriptor):
                raise _in_use(path.parent, _writer(descriptor))
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, msgspec.json.encode(_ourselves()), 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise could_not_write(f"into run {path.parent.name}", error, at=path.parent) from error


def _is_free(descriptor: int) -> bool:
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in WITHOUT_LOCKS:
            raise
        return not _lives(_writer(descriptor))
    return True


def _writer(descriptor: int) -> Writer | None:
    try:
        return msgspec.json.decode(os.pread(descriptor, 4096, 0), type=Writer)
    except msgspec.DecodeError:
        return None


def _ourselves() -> Writer:
    since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
    return Writer(pid=os.getpid(), host=socket.gethostname(), since=since, started=_start_of(os.getpid()))


def _lives(writer: Writer | None) -> bool:
    """One on another machine cannot be asked, and counts as ended: nobody should have to remove a file by hand."""
    if writer is None or writer.host != socket.gethostname() or writer.started is None:
        return False
    return _start_of(writer.pid) == writer.started


def _start_of(pid: int) -> str | None:
    """When a process began, in whatever form the system gives it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        pass
    try:
        told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return told.stdout.strip() or None


def _in_use(run: Path, writer: Writer | None) -> RunInUse:
    who = f"process {writer.pid}" if writer else "another process"
    where = f" on {writer.host}" if writer and writer.host != socket.gethostname() else ""
    since = f" since {writer.since}" if writer else ""
    return RunInUse(
        f"Run {run.name} is being written by {who}{where}{since}",
        at=str(run),
        hint="Wait until it ends or stop it; then the run goes on from its last checkpoint.",
    )
