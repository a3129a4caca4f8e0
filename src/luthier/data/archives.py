"""Unpacking what came from elsewhere."""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from luthier.errors import DataError

__all__ = ["unpack"]


def unpack(archive: Path, folder: Path) -> None:
    """Write an archive's files below a folder. Every name is checked before the first byte is written."""
    try:
        with tarfile.open(archive) as tar:
            members = tar.getmembers()
            for member in members:
                _check(member, archive)
            for member in members:
                _write(tar, member, folder)
    except (tarfile.TarError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"Not an archive that can be read: {error}", at=str(archive)) from error
    except OSError as error:
        raise DataError(f"Could not unpack {archive.name}: {error.strerror or error}", at=str(folder)) from error


def _check(member: tarfile.TarInfo, archive: Path) -> None:
    """Data sets hold files and folders; a link could lead outside, so none is followed or made."""
    if _leads_outside(member.name):
        raise DataError(f"The archive would write outside its folder: '{member.name}'", at=str(archive))
    if member.issym() or member.islnk():
        raise DataError(f"The archive holds a link: '{member.name}' to '{member.linkname}'", at=str(archive))
    if not (member.isfile() or member.isdir()):
        raise DataError(f"The archive holds a device: '{member.name}'", at=str(archive))


def _leads_outside(name: str) -> bool:
    """By either system's rules, whichever this is."""
    windows = PureWindowsPath(name)
    return bool(windows.anchor) or PurePosixPath(name).is_absolute() or ".." in windows.parts


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    target = folder / member.name
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None, "regular files have content"
    with content, target.open("wb") as file:
        shutil.copyfileobj(content, file, 1 << 20)
