"""MindSpore's own messages: kept from the terminal, in files of this process, for the run's log."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["keep_from_terminal", "keep_from_working_folder", "messages"]

FOLDER = "GLOG_log_dir"
GRAPHS = "MS_OM_PATH"
SETTINGS = ("GLOG_logtostderr", FOLDER, "GLOG_v", "GLOG_stderrthreshold")
WARNINGS = ("*.log.WARNING.*", "mindspore.log.*")
CRITICAL = "4"
NEVER = 9  # above glog's severities
THRESHOLD = "_ZN3fLI21FLAGS_stderrthresholdE"
PREFIX = "luthier-mindspore-"

_read: dict[Path, int] = {}
_folders: list[Path] = []


def keep_from_terminal() -> None:
    """Before MindSpore is loaded, since it reads these settings once; a user's own are left alone."""
    inherited = _is_ours(FOLDER)  # from a process that called this
    if _folders or "mindspore" in sys.modules or (not inherited and any(name in os.environ for name in SETTINGS)):
        return
    folder = _folder()
    os.environ |= {"GLOG_logtostderr": "0", FOLDER: str(folder), "GLOG_stderrthreshold": CRITICAL}
    _folders.append(folder)


def keep_from_working_folder() -> None:
    """What MindSpore writes of a graph that it could not compile, which it would put into `rank_0` where one stands.

    It looks at the setting when it writes, and once it has failed prints all that it logs, whatever its settings say.
    """
    if GRAPHS not in os.environ or _is_ours(GRAPHS):
        os.environ[GRAPHS] = str(_folder())
    if _folders:
        _never_print()


def _never_print() -> None:
    """By glog's own flag: as a setting MindSpore takes nothing above CRITICAL, which a failure is."""
    found = find_spec("mindspore")
    for place in found.submodule_search_locations or () if found else ():
        for library in Path(place, "lib").glob("libglog.so*"):
            with suppress(OSError, ValueError):  # another build of it, which then prints
                ctypes.c_int.in_dll(ctypes.CDLL(str(library)), THRESHOLD).value = NEVER


def _is_ours(name: str) -> bool:
    return Path(os.environ.get(name, "")).name.startswith(PREFIX)


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def messages() -> list[str]:
    """The warnings and errors that MindSpore has written since the last time."""
    found = []
    for folder in _folders:
        for file in sorted(path for pattern in WARNINGS for path in folder.rglob(pattern)):
            with file.open(encoding="utf-8", errors="replace") as stream:
                stream.seek(_read.get(file, 0))
                found += [line.strip() for line in stream if line.startswith(("[WARNING]", "[ERROR]"))]
                _read[file] = stream.tell()
    return found
