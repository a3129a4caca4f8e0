"""One process writes a run; a second is refused, and a killed one is in nobody's way. With real processes."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from luthier.errors import RunInUse
from luthier.recipe import Recipe
from luthier.store import Run, create_run, open_run, writing

HOLDS = """
import os, sys, time
from pathlib import Path
from luthier.store import writing
with writing(Path(sys.argv[1])):
    if "fork" in sys.argv and os.fork() == 0:
        sys.stdout.write("held\\n"); sys.stdout.flush()
        time.sleep(60)
    sys.stdout.write("held\\n"); sys.stdout.flush()
    time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create_run(tmp_path, Recipe(name="mine"), now=datetime.now().astimezone())


def holder(run: Run, *more: str) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(run.path), *more], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    if more:
        assert child.stdout.readline() == "held\n"
    return child


def end(child: subprocess.Popen[str]) -> None:
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


@pytest.fixture(params=["locks", "no locks"])
def _file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "locks":
        return
    import fcntl

    def refused(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refused)


@pytest.mark.usefixtures("_file_system")
class TestAnotherWriter:
    def test_is_told_who_writes_and_since_when(self, run: Run) -> None:
        child = holder(run)
        try:
            with pytest.raises(RunInUse) as caught, writing(run.path):
                pass
            assert re.fullmatch(
                rf"Run {run.name} is being written by process {child.pid} since [\d-]+ [\d:]+", caught.value.sentence
            )
            with pytest.raises(RunInUse):
                open_run(run.path, writing=True)
            assert open_run(run.path).recipe == run.recipe  # readers need no leave
        finally:
            end(child)

    def test_goes_ahead_where_the_first_was_killed(self, run: Run) -> None:
        end(holder(run))
        assert (run.path / ".writer").exists()
        with writing(run.path):
            assert json.loads((run.path / ".writer").read_bytes())["pid"] == os.getpid()
        assert not (run.path / ".writer").exists()

    def test_is_refused_within_one_process_too(self, run: Run) -> None:
        with writing(run.path), pytest.raises(RunInUse, match=f"process {os.getpid()}"), writing(run.path):
            pass
        with writing(run.path):
            pass


def test_a_number_that_was_given_out_again_is_no_writer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refused(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    mark = {"pid": os.getpid(), "host": os.uname().nodename, "since": "2026-01-01 00:00:00", "started": "1"}
    (run.path / ".writer").write_text(json.dumps(mark))
    with writing(run.path):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_outlives_the_writer_holds_nothing(run: Run) -> None:
    child = holder(run, "fork")
    try:
        child.kill()
        child.wait()
        with writing(run.path):
            pass
    finally:
        end(child)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"Could not write into run gone"), writing(tmp_path / "gone"):
        pass
