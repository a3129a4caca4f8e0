"""What a framework answers in a process of its own, where it may be missing, fail, die or never come back."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, sleep
from typing import Literal

import msgspec
from msgspec import Struct

__all__ = ["Checkup", "Device", "check", "checkup_programs"]

HERE = Path(__file__).parent
QUIET = {"GLOG_v": "4", "GLOG_logtostderr": "1"}  # MindSpore tells of every device that it does not find

LOOKS_EVERY_S = 0.02
RAISED = re.compile(r"[A-Za-z_][\w.]*(: |$)")

State = Literal["works", "missing", "broken"]


class Device(Struct, frozen=True, kw_only=True):
    """Under the name that a recipe gives it."""

    name: str
    title: str = ""
    memory_mb: int | None = None


class Answer(Struct, frozen=True, kw_only=True):
    """What a checkup prints."""

    devices: tuple[Device, ...] = ()
    threads: int | None = None
    instructions: str = ""
    compiler: str | None = None


class Checkup(Struct, frozen=True, kw_only=True):
    """A framework's state, and what it said of itself or of its failure."""

    name: str
    version: str | None
    state: State
    devices: tuple[Device, ...] = ()
    threads: int | None = None  # that it takes by itself
    instructions: str = ""  # that its kernels are chosen for
    compiler: str | None = None  # that it would compile with
    failure: str = ""
    seconds: float | None = None  # to be loaded and to compute once


def checkup_programs() -> dict[str, Path]:
    """One of each engine, by the name of its framework."""
    return {name: HERE / name / "checkup.py" for name in ("torch", "mindspore")}


def check(programs: Mapping[str, Path], timeout_s: float) -> tuple[Checkup, ...]:
    """Run the checkups at the same time, each a program that computes with its framework and prints an answer."""
    with ExitStack() as stack:
        asked = {name: stack.enter_context(_Asked(path)) for name, path in programs.items() if _is_there(name)}
        end = perf_counter() + timeout_s
        while perf_counter() < end and sum(running.goes_on() for running in asked.values()):
            sleep(LOOKS_EVERY_S)
        return tuple(_checkup(name, asked.get(name), timeout_s) for name in programs)


def _checkup(name: str, asked: _Asked | None, timeout_s: float) -> Checkup:
    number = _version(name)
    if asked is None:
        return Checkup(name=name, version=number, state="missing")
    if asked.seconds is None:
        return Checkup(name=name, version=number, state="broken", failure=f"no answer within {timeout_s:g} s")
    answer, code = asked.answer(), asked.child.returncode
    if answer is None or code != 0:
        failure = _failure(asked.complaints(), code)
        return Checkup(name=name, version=number, state="broken", failure=failure, seconds=asked.seconds)
    return Checkup(
        name=name,
        version=number,
        state="works",
        devices=answer.devices,
        threads=answer.threads,
        instructions=answer.instructions,
        compiler=answer.compiler,
        seconds=asked.seconds,
    )


class _Asked:
    """A checkup that runs; it sees the packages that this process sees, and its files and children go with it."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._folder = tempfile.TemporaryDirectory(prefix="luthier-doctor-", ignore_cleanup_errors=True)
        self.seconds: float | None = None

    def __enter__(self) -> _Asked:
        folder = Path(self._folder.name)
        places = [str(Path(place).absolute()) for place in sys.path if place]
        self._began = perf_counter()
        self._said, self._complained = folder / "said", folder / "complained"
        with self._said.open("wb") as said, self._complained.open("wb") as complained:
            self.child = subprocess.Popen(
                [sys.executable, "-P", str(self._program)],
                cwd=folder,
                env=os.environ | QUIET | {"PYTHONPATH": os.pathsep.join(places), "MS_OM_PATH": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complained,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self._folder.cleanup()

    def goes_on(self) -> bool:
        """Whether it has not ended; the first time that it has, the time is taken."""
        if self.seconds is None and self.child.poll() is not None:
            self.seconds = perf_counter() - self._began
        return self.seconds is None

    def answer(self) -> Answer | None:
        """Its last line, if that is one."""
        try:
            return msgspec.json.decode((self._said.read_bytes().splitlines() or [b""])[-1], type=Answer)
        except msgspec.DecodeError:
            return None

    def complaints(self) -> str:
        """What it wrote to standard error."""
        return self._complained.read_text("utf-8", "replace")


def _failure(complained: str, code: int) -> str:
    """What ended the process, or the line of the last traceback that names the exception."""
    if code < 0:
        return f"it died of {signal.Signals(-code).name}"
    lines = [line for line in complained.rpartition("Traceback (most recent call last):")[2].splitlines() if line]
    raised = next((line for line in lines if RAISED.match(line)), None)
    return (raised or (lines or [f"it ended with {code}"])[-1]).strip()


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # half a package
        return False


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
