"""A data set from its publisher: fetched, checked, unpacked, and opened once to see that it is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from luthier.data.archives import unpack
from luthier.data.downloads import Download
from luthier.data.places import roots
from luthier.data.registry import downloadable, open_source, registered
from luthier.errors import DataError

__all__ = ["get"]


def get(
    name: str,
    root: str | Path | None = None,
    *,
    progress: Callable[[str, int, int], None] | None = None,
    download: Download | None = None,
) -> Path:
    """The folder that holds the set, below the first data root; a set that is there and whole is not fetched again.

    `progress` is told a file's name, its bytes so far and its bytes in all (0 where the server does not say).
    `download` takes the place of the publisher's files: a mirror of your own.
    """
    download = download or registered(name).download
    if download is None:
        raise DataError(
            f"Nothing to fetch for '{name}'",
            hint="It is part of Luthier." if name == "digits" else f"To be had are: {', '.join(downloadable())}.",
        )
    root = roots(root)[0]
    try:
        return _place(name, root)
    except DataError:  # not there, or not whole
        _fetch(download, root / name, progress)
    try:
        return _place(name, root)
    except DataError as error:
        hint = f"What was fetched is in {root / name}; remove what is damaged beside it."
        raise DataError(error.sentence, at=error.at, hint=hint) from error


def _place(name: str, root: Path) -> Path:
    place = open_source(name, root=root).place
    assert place is not None, "what is fetched has a place"
    return place


def _fetch(download: Download, folder: Path, progress: Callable[[str, int, int], None] | None) -> None:
    from luthier.data.fetching import fetch

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Could not make the folder: {error.strerror}", at=str(folder)) from error
    for remote in download.files:
        file = fetch(remote, folder, progress)
        if download.unpack:
            _unpack_into(folder, file)
            file.unlink()


def _unpack_into(folder: Path, archive: Path) -> None:
    """Beside it first, so that a kill leaves no half of a set under its name."""
    try:
        with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder) as aside:
            unpack(archive, Path(aside))
            for entry in Path(aside).iterdir():
                target = folder / entry.name
                if target.is_dir():
                    shutil.rmtree(target)
                os.replace(entry, target)
    except OSError as error:  # such as a folder of old that is not to be replaced
        raise DataError(f"Could not unpack {archive.name}: {error.strerror or error}", at=str(folder)) from error
