"""A framework that is missing, fails, dies or hangs is told of, and takes nothing with it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from luthier.engines import Checkup, check, checkup_programs

Ask = Callable[..., Checkup]

FAILS = """
def deeper():
    raise ImportError("libcudart.so.12: cannot open shared object file\\n\\n- C++ Call Stack:\\nsomewhere.cc: 12")

try:
    {}["a"]
except KeyError:
    deeper()
"""
HANGS = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({place!r}, "w").write(str(child.pid))
time.sleep(600)
"""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Under the name of a package that is there."""

    def asked(program: str, *, name: str = "numpy", timeout_s: float = 20.0) -> Checkup:
        path = tmp_path / "checkup.py"
        path.write_text(program, "utf-8")
        (found,) = check({name: path}, timeout_s)
        return found

    return asked


def test_an_answer_is_taken_from_the_last_line(ask: Ask) -> None:
    program = """print("talk"); print('{"devices": [{"name": "cpu"}], "threads": 3, "instructions": "AVX2"}')"""
    found = ask(program)
    assert (found.state, found.threads, found.instructions) == ("works", 3, "AVX2")
    assert [device.name for device in found.devices] == ["cpu"]
    assert found.version is not None
    assert found.seconds is not None


def test_a_failure_is_the_last_exception_s_first_line(ask: Ask) -> None:
    found = ask(FAILS)
    assert found.state == "broken"
    assert found.failure == "ImportError: libcudart.so.12: cannot open shared object file"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import os; os.abort()", "it died of SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "it died of SIGILL"),
        ("raise SystemExit(3)", "it ended with 3"),
        ("print('hello')", "it ended with 0"),
        ("", "it ended with 0"),
    ],
)
def test_a_death_is_told_by_its_cause(ask: Ask, program: str, told: str) -> None:
    found = ask(program)
    assert (found.state, found.failure) == ("broken", told)


def test_one_that_hangs_is_ended_with_its_children(ask: Ask, tmp_path: Path) -> None:
    place = tmp_path / "pid"
    began = time.monotonic()
    found = ask(HANGS.format(place=str(place)), timeout_s=2)
    assert time.monotonic() - began < 10
    assert (found.state, found.failure) == ("broken", "no answer within 2 s")
    pid = int(place.read_text())
    for _ in range(100):
        if is_gone(pid):
            return
        time.sleep(0.05)
    pytest.fail("its child goes on")


def is_gone(pid: int) -> bool:
    """Or dead, and not yet waited for by whoever inherited it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def test_one_that_is_not_installed_is_not_asked(ask: Ask) -> None:
    found = ask("raise RuntimeError", name="no_such_package")
    assert (found.state, found.version, found.failure) == ("missing", None, "")


def test_its_files_do_not_stay(ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = ask("import os; open('left', 'w'); print('{}'); open(os.environ['MS_OM_PATH'] + '/too', 'w')")
    assert found.state == "works"
    assert [path.name for path in tmp_path.iterdir()] == ["checkup.py"]


def test_both_frameworks_compute_here() -> None:
    for found in check(checkup_programs(), 100):
        if found.state != "missing":
            assert (found.state, found.failure) == ("works", "")
            assert found.devices[0].name == "cpu"
            assert found.threads
