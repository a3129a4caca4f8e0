"""One run's folder: written by one process, readable by anything."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import time
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec

from luthier.errors import StoreError
from luthier.recipe import Recipe, to_toml
from luthier.store.checkpoint_folders import listed
from luthier.store.durable import could_not_write, replace_file
from luthier.store.environment import Environment, here
from luthier.store.result import Result

__all__ = ["ENVIRONMENT", "RECIPE", "Run", "create_run"]

RECIPE, ENVIRONMENT, RESULT, LOG = "recipe.toml", "environment.json", "result.json", "log.txt"
EVENTS = "events.out.tfevents.{time}.{host}.luthier"  # the end tells it from another tool's file in the same folder
ATTEMPTS = 100

Read = TypeVar("Read")


@dataclass(frozen=True)
class Run:
    """A run's folder and the recipe that it was started with, every default written out."""

    path: Path
    recipe: Recipe

    @property
    def name(self) -> str:
        """The folder's name: when, what, and four digits that tell apart what began in the same minute."""
        return self.path.name

    def environment(self) -> Environment:
        """Where the run was started."""
        return _read(self.path / ENVIRONMENT, Environment)

    @property
    def id(self) -> str:
        """What tells it from every other run, also where its folder was moved or copied; a run of old has none."""
        try:
            return self.environment().id
        except StoreError:
            return ""

    def result(self) -> Result | None:
        """What came out, or None as long as nothing has."""
        path = self.path / RESULT
        return _read(path, Result) if path.exists() else None

    def write_result(self, result: Result) -> None:
        """Put result.json in place at once; a number that is not finite becomes null, since JSON has no word for it."""
        replace_file(self.path / RESULT, _json(result))

    def log(self, text: str) -> None:
        """Append to log.txt, each line with its time."""
        moment = datetime.now().astimezone().isoformat(timespec="seconds")
        lines = "".join(f"{moment} {line}\n" for line in text.splitlines() or [""])
        try:
            with (self.path / LOG).open("a", encoding="utf-8") as file:
                file.write(lines)
        except OSError as error:
            raise could_not_write(LOG, error, at=self.path, needed=len(lines)) from error

    def checkpoints(self) -> list[Path]:
        """The folders of its checkpoints, by step."""
        return listed(self.path)

    def event_file(self) -> Path:
        """The one event file, or the name that it is to have."""
        there = sorted(self.path.glob(EVENTS.format(time="*", host="*")))
        host = _in_a_name(socket.gethostname()) or "localhost"
        return there[0] if there else self.path / EVENTS.format(time=int(time.time()), host=host)


def create_run(parent: Path, recipe: Recipe, *, now: datetime, ranks: int = 1, backend: str | None = None) -> Run:
    """A new folder below `parent`; it counts as a run from the moment that its recipe, written last, is there."""
    stem = f"{now:%Y-%m-%d-%H%M}-{_in_a_name(recipe.name) or 'run'}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        path = _new_folder(parent, stem)
    except OSError as error:
        raise could_not_write(f"the run's folder {stem}", error, at=parent) from error
    try:
        environment, text = here(now, ranks=ranks, backend=backend), to_toml(recipe).encode()
        own = {"id": secrets.token_hex(8), "recipe_sha256": sha256(text).hexdigest()}
        replace_file(path / ENVIRONMENT, _json(msgspec.structs.replace(environment, **own)))
        replace_file(path / RECIPE, text)
    except StoreError:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Run(path, recipe)


def _new_folder(parent: Path, stem: str) -> Path:
    for _ in range(ATTEMPTS):
        path = parent / f"{stem}-{secrets.token_hex(2)}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise FileExistsError(None, "too many runs of this name began in this minute", os.fspath(parent))


def _in_a_name(text: str) -> str:
    """Letters of any script stay; whatever could leave the folder or confuse a shell becomes a dash."""
    return re.sub(r"[^\w.+-]+", "-", text)[:50].strip("-.")


def _json(record: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _read(path: Path, kind: type[Read]) -> Read:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(f"Cannot read {path.name}: {error}", at=str(path)) from error
