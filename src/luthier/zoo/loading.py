"""The user's own objects, by `path/to/file.py:name`."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any
from zlib import crc32

from luthier.errors import LuthierError, ModelError, nearest

__all__ = ["FAULTS", "Importable", "beside", "importable", "load_object", "own_frames", "raised", "split"]

FAULTS = (Exception, SystemExit)  # what a user's code may raise: a sys.exit in it is to end no command of ours


def split(reference: str, *, at: str = "model.name", error: type[LuthierError] = ModelError) -> tuple[Path, str]:
    """The file and the name in it."""
    file, _, name = reference.rpartition(":")
    path = Path(file).expanduser()
    if not name.isidentifier() or path.suffix != ".py":
        raise error(f"Expected path/to/file.py:name, got '{reference}'", at=at)
    if not path.is_file():
        close = nearest(path.name, [item.name for item in path.parent.glob("*.py")]) if path.parent.is_dir() else None
        raise error(f"No file {path}", at=at, hint=f"Perhaps you meant '{path.parent / close}'." if close else None)
    return path, name


def load_object(reference: str, *, at: str = "model.name", error: type[LuthierError] = ModelError) -> Any:
    """Run the file and take the name from it; the file's own folder is importable meanwhile, as for a script."""
    path, name = split(reference, at=at, error=error)
    module = _run(path, at, error)
    if not hasattr(module, name):
        public = [item for item in vars(module) if not item.startswith("_")]
        meant = nearest(name, public)
        hint = f"Perhaps you meant '{meant}'." if meant else f"It has: {', '.join(public) or 'nothing'}."
        raise error(f"No '{name}' in {path}", at=at, hint=hint)
    return getattr(module, name)


def _run(path: Path, at: str, error: type[LuthierError]) -> ModuleType:
    """Compile the file as it is now: a cached byte code could be that of a version a second older."""
    known_as = f"{path.stem}_{crc32(str(path.resolve()).encode()):08x}"
    module = ModuleType(known_as)
    module.__file__ = str(path)
    sys.modules[known_as] = module  # dataclasses and pickle look a class's module up there
    try:
        with importable(path.parent):
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except FAULTS as fault:  # whatever the user's file does wrong
        del sys.modules[known_as]
        cause = fault.with_traceback(own_frames(fault.__traceback__, path))
        raise error(f"{path} cannot be run: {raised(fault)}", at=at) from cause
    return module


def raised(fault: BaseException) -> str:
    """`ValueError: no such table`; many a fault has no text."""
    kind, text = type(fault).__name__, str(fault).strip()
    return f"{kind}: {text}" if text else kind


class Importable:
    """Inside a `with` of it a folder's modules can be imported; it may be entered any number of times."""

    def __init__(self, folder: Path) -> None:
        self._place = str(folder.resolve())  # asked of the disk once

    def __enter__(self) -> None:
        sys.path.insert(0, self._place)

    def __exit__(self, *_: object) -> None:
        if self._place in sys.path:
            sys.path.remove(self._place)


def importable(folder: Path) -> Importable:
    """The folder's modules can be imported inside the block."""
    return Importable(folder)


def beside(reference: str) -> Importable:
    """The modules beside the file of `path/to/file.py:name` can be imported inside the block, as for a script."""
    return Importable(Path(reference.rpartition(":")[0]).expanduser().parent)


def own_frames(traceback: TracebackType | None, path: Path) -> TracebackType | None:
    """A traceback from the user's file on, without the frames of ours that led there."""
    while traceback and Path(traceback.tb_frame.f_code.co_filename).resolve() != path.resolve():
        traceback = traceback.tb_next
    return traceback
