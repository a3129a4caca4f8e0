"""Files and folders that are there whole or not at all, also after a kill or a power cut."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from luthier.errors import StoreError

__all__ = ["PARTIAL", "could_not_write", "replace_file", "sync_folder", "write_file"]

PARTIAL = ".partial"  # a name that starts with a dot and ends so is the leftover of a writer that was killed
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the user's quota, the process's own limit


def sync_folder(folder: Path) -> None:
    """A name in a folder survives a power cut only once the folder itself is on disk; Windows has no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, data: bytes) -> None:
    """Write and wait for the disk; a failure leaves a part behind, which is the caller's to remove."""
    with path.open("wb", buffering=0) as file:
        rest = memoryview(data)
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def replace_file(path: Path, data: bytes) -> None:
    """A reader sees the old file or the new one, never a part of either."""
    aside = path.with_name(f".{path.name}{PARTIAL}")
    try:
        write_file(aside, data)
        os.replace(aside, path)
        sync_folder(path.parent)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise could_not_write(path.name, error, at=path.parent, needed=len(data)) from error


def could_not_write(what: str, error: OSError, *, at: Path, needed: int = 0, hint: str | None = None) -> StoreError:
    """The error that says what failed and why, and where room was short, how much was needed."""
    sentence = f"Could not write {what}: {error.strerror or error}"
    if error.errno in NO_ROOM and needed:
        sentence += f"; it needs {_size(needed)}, {_size(_free(at))} are free"
    return StoreError(sentence, at=str(at), hint=hint)


def _free(folder: Path) -> int:
    nearest_there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return shutil.disk_usage(nearest_there).free


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:.1f} MB" if num_bytes >= 100_000 else f"{num_bytes:,} bytes"
