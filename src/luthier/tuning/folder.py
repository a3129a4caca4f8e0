"""A study's folder: one process at a time works in it, and everything that a repetition needs lies there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from luthier.errors import RecipeError, StoreError
from luthier.recipe import Recipe, read, to_toml
from luthier.store import could_not_write, here, replace_file, sync_folder
from luthier.tuning.records import VERSION, AnyEntry, Entry, Plan

__all__ = ["StudyFolder", "create_folder", "open_folder"]

RECIPE, PLAN, JOURNAL, LOCK, ENVIRONMENT = "recipe.toml", "study.json", "journal.jsonl", "lock", "environment.json"
_entries = msgspec.json.Decoder(AnyEntry)


class StudyFolder:
    """The files; `writing` takes the lock, which the workers share: it is held until the last of them has ended."""

    def __init__(self, path: Path, *, writing: bool) -> None:
        self.path = path
        self.lock: int | None = _locked(path) if writing else None
        try:
            self.plan = _plan(path)
            self.recipe = read(path / RECIPE)
        except BaseException:
            self.close()
            raise
        self._journal: int | None = None

    @property
    def trials(self) -> Path:
        """Where their runs lie."""
        return self.path / "trials"

    def entries(self) -> Iterator[Entry]:
        """The journal; a last line that a kill or a full disk cut short never happened."""
        path = self.path / JOURNAL
        if not path.exists():
            return
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield _entries.decode(line)
                except msgspec.DecodeError as error:
                    raise StoreError(
                        f"Line {number} of the journal is damaged: {error}",
                        at=str(path),
                        hint="What stands before it is whole: cut the file there to go on.",
                    ) from error

    def append(self, entry: Entry) -> None:
        """On the disk before anything follows from it."""
        line = msgspec.json.encode(entry) + b"\n"
        try:
            if self._journal is None:
                self._journal = self._opened()
            end = os.lseek(self._journal, 0, os.SEEK_END)
            try:
                if os.write(self._journal, line) != len(line):
                    raise OSError(28, "No space left on device")
                os.fsync(self._journal)
            except OSError:
                os.ftruncate(self._journal, end)
                raise
        except OSError as error:
            hint = f"Nothing is lost. Make room, then: luthier tune --resume {self.path}"
            raise could_not_write(JOURNAL, error, at=self.path, needed=len(line), hint=hint) from error

    def _opened(self) -> int:
        """Cut back to its last whole line."""
        path = self.path / JOURNAL
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        size = os.fstat(descriptor).st_size
        whole = path.read_bytes().rfind(b"\n") + 1 if size else 0
        if whole < size:
            os.ftruncate(descriptor, whole)
        sync_folder(self.path)
        return descriptor

    def write(self, name: str, text: str) -> Path:
        """A file of the study, whole or not at all."""
        replace_file(self.path / name, text.encode())
        return self.path / name

    def close(self) -> None:
        """Let others in."""
        for descriptor in (self.lock, getattr(self, "_journal", None)):
            if descriptor is not None:
                os.close(descriptor)
        self.lock = self._journal = None


def create_folder(path: Path, recipe: Recipe, plan: Plan) -> StudyFolder:
    """A new study; one that is there already is gone on with, never written over."""
    if (path / PLAN).exists():
        _same(path, recipe)
        raise RecipeError(
            f"There is a study in {path} already", at="-o", hint=f"Go on with it: luthier tune --resume {path}"
        )
    if path.is_dir() and any(item.name not in (RECIPE, ENVIRONMENT, LOCK) for item in path.iterdir()):
        raise RecipeError(f"{path} is not empty, and holds no study", at="-o", hint="Name another folder.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / "trials").mkdir(exist_ok=True)
    except OSError as error:
        raise could_not_write(f"the study's folder {path.name}", error, at=path.parent) from error
    replace_file(path / RECIPE, to_toml(recipe).encode())
    environment = msgspec.json.encode(here(datetime.now().astimezone()))
    replace_file(path / ENVIRONMENT, msgspec.json.format(environment, indent=2) + b"\n")
    replace_file(path / PLAN, msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n")
    return StudyFolder(path, writing=True)


def open_folder(path: Path | str, *, writing: bool = False) -> StudyFolder:
    """A study that is there."""
    path = Path(path)
    if not (path / PLAN).is_file():
        raise RecipeError(f"'{path}' is no study", hint="A study is a folder that `luthier tune RECIPE -o DIR` made.")
    return StudyFolder(path, writing=writing)


def _same(path: Path, recipe: Recipe) -> None:
    there = read(path / RECIPE)
    if there.space != recipe.space:
        changed = sorted(
            field
            for field in there.space.keys() | recipe.space.keys()
            if there.space.get(field) != recipe.space.get(field)
        )
        raise RecipeError(
            f"The study in {path} searches another space: {', '.join(changed)} differ{'s' * (len(changed) == 1)}",
            at="-o",
            hint="Name another folder, or go on with the study's own space: luthier tune --resume " + str(path),
        )


def _plan(path: Path) -> Plan:
    try:
        raw = msgspec.json.decode((path / PLAN).read_bytes())
        version = raw.get("version") if isinstance(raw, dict) else None
        if version != VERSION:
            raise RecipeError(
                f"The study was made by another version of Luthier: its format is {version}, expected {VERSION}",
                at=str(path / PLAN),
                hint="Its best.toml can be trained all the same; begin a new study to search on.",
            )
        return msgspec.convert(raw, Plan)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(f"Cannot read {PLAN}: {error}", at=str(path / PLAN)) from error


def _locked(path: Path) -> int:
    descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise RecipeError(
            f"Another process works on the study in {path}",
            hint="Wait until it has ended, or name another folder with -o.",
        ) from None
    return descriptor
