"""A study on a Ray of two workers on this machine: it ends as it does here, whatever becomes of its workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from luthier.tuning import open_study, resume_study
from tests.tuning.waiting import ended, has, journal, until

pytestmark = [
    pytest.mark.slow,  # a Ray takes some ten seconds to start, and each of its actors as many
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]

START = """
import sys
from tests.tuning.conftest import small, tuned
from luthier.recipe import override
recipe = override(small(), [f"strategy.epochs={sys.argv[2]}"])
tuned(sys.argv[1], recipe, trials=3, scheduler="none", workers=2, on=sys.argv[3])
"""


ENVIRONMENT = {**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}  # else Ray keeps one at home


def begun(path: Path, *, epochs: int = 3, on: str = "ray") -> subprocess.Popen[bytes]:
    """In a session of its own, so that Ctrl-C reaches what a terminal would send it to."""
    command = [sys.executable, "-c", START, str(path), str(epochs), on]
    return subprocess.Popen(command, cwd=os.getcwd(), env=ENVIRONMENT, start_new_session=True)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return tmp_path / "study"


def test_it_ends_as_it_does_here(study: Path) -> None:
    assert begun(study).wait(300) == 0
    found = open_study(study)
    assert [trial.state for trial in found.trials] == ["finished"] * 3
    assert all(trial.cost is not None and trial.epoch == 3 for trial in found.trials)
    again = resume_study(study, trials=1, workers=1)  # the same folder, without Ray
    assert [trial.state for trial in again.trials] == ["finished"] * 4


def test_a_worker_that_is_killed_costs_the_steps_since_the_last_checkpoint(study: Path) -> None:
    process = begun(study, epochs=40)
    until(has(study, "reported", 3), 200)
    actors = list(trainers(process.pid))
    assert len(actors) == 2
    os.kill(actors[0], signal.SIGKILL)
    assert process.wait(300) == 0
    assert [trial.state for trial in open_study(study).trials] == ["finished"] * 3
    lines = journal(study)
    (died,) = [line for line in lines if line["event"] == "died"]
    assert "its actor is gone" in str(died["reason"])
    reported = [line for line in lines if line["event"] == "reported" and line["trial"] == died["trial"]]
    epochs = [int(str(line["epoch"])) for line in reported]
    assert len(epochs) <= 41, "at most one epoch was trained again"
    assert sorted(set(epochs)) == list(range(1, 41))


def test_ctrl_c_saves_where_every_trial_stands(study: Path) -> None:
    process = begun(study, epochs=400)
    until(has(study, "reported", 3), 200)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(120) == 0
    until(ended(study), 30)
    lines = journal(study)
    assert lines[-1]["event"] == "closed"
    assert not [line for line in lines if line["event"] in ("died", "failed", "ended")]
    broken_off = [trial for trial in open_study(study).trials if trial.state == "running"]
    assert len(broken_off) == 2
    for trial in broken_off:
        assert list((study / "trials" / f"{trial.number:04}").glob("*/checkpoints/step-*")), "it goes on from there"


def test_a_running_ray_is_joined_by_its_address(study: Path, ray_address: str) -> None:
    assert begun(study, on=ray_address).wait(300) == 0
    assert [trial.state for trial in open_study(study).trials] == ["finished"] * 3


@pytest.fixture
def ray_address(tmp_path: Path) -> Iterator[str]:
    """A Ray with two places that other programs may use, and that is left as it was."""
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2"]
    options = ["--port=26379", "--ray-client-server-port=26001", "--include-dashboard=false", "--disable-usage-stats"]
    with (tmp_path / "ray.log").open("wb") as log:
        process = subprocess.Popen([*command, *options], env=ENVIRONMENT, stdout=log, stderr=log)
        try:
            until(lambda: b"Ray runtime started" in (tmp_path / "ray.log").read_bytes(), 120)
            yield "ray://127.0.0.1:26001"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_a_ray_that_does_not_answer_gets_a_sentence(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("luthier")), "tune", "lenet5-digits", "--trials", "1"]
    command += ["-o", str(tmp_path / "study"), "--on", "ray://127.0.0.1:9"]
    said = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=200)
    assert said.returncode == 2
    assert "Cannot reach Ray" in said.stderr
    assert "RAY_AUTH_MODE=token" in said.stderr


def trainers(driver: int) -> Iterator[int]:
    """The processes of a driver's actors that train."""
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and b"_Trainer.run" in _read(path / "cmdline") and driver in _ancestors(int(path.name)):
            yield int(path.name)


def _ancestors(process: int) -> Iterator[int]:
    while process > 1:
        process = int(_read(Path("/proc") / str(process) / "stat").rpartition(b")")[2].split()[1] or 0)
        yield process


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b") ? 0"
