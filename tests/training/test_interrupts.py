"""Ctrl-C and SIGTERM end a training in good order; a second one ends it at once."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from luthier.store import Run
from tests.cli.calling import luthier, process
from tests.training.leftovers import only_run, same_end

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")

SETTINGS = ("strategy.steps=600", "checkpoint.every_steps=100", "record.every_steps=7", "record.histograms=false")
SLOW = """
import time
from pathlib import Path

def listen(event):
    if type(event).__name__ == "StepEnded" and event.step == 3 and Path(__file__).with_name("slow").exists():
        Path(__file__).with_name("reached").touch()
        time.sleep(120)
"""


def arguments(out: Path, *settings: str) -> list[str]:
    chosen = [argument for setting in settings for argument in ("--set", setting)]
    return ["train", "lenet5-digits", "--no-measure", "--out", str(out), *chosen]


def wait_for(happened: Callable[[], object], child: subprocess.Popen[str]) -> None:
    while not happened():
        assert child.poll() is None, child.communicate()[1]
        time.sleep(0.005)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("straight")
    with process(*arguments(out, *SETTINGS)) as child:
        _, told = child.communicate()
    assert child.returncode == 0, told
    return only_run(out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_saves_and_says_how_to_go_on(number: signal.Signals, straight: Run, tmp_path: Path) -> None:
    with process(*arguments(tmp_path, *SETTINGS)) as child:
        wait_for(lambda: list(tmp_path.glob("*/checkpoints/step-00000100")), child)
        child.send_signal(number)
        out, told = child.communicate()
    assert (child.returncode, out) == (130, "")
    run = only_run(tmp_path)
    result = run.result()
    assert result is not None
    assert (result.status, result.reason, result.accuracy) == ("interrupted", number.name, None)
    assert run.checkpoints()[-1].name == f"step-{result.steps:08}"
    assert 100 <= result.steps < 600
    advice = re.search(r"Interrupted at step (\d+)\. Go on with: luthier (train --resume (\S+))", told)
    assert advice is not None
    assert (int(advice[1]), advice[3]) == (result.steps, str(run.path))
    with process(*advice[2].split(), "--no-measure") as again:
        _, told = again.communicate()
    assert again.returncode == 0, told
    assert f"resumed at step {result.steps}" in told
    assert same_end(run, straight)


@pytest.mark.parametrize(("second", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_second_signal_ends_it_at_once(second: signal.Signals, code: int, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "slow").touch()
    out = tmp_path / "runs"
    listener = f"listeners=['{tmp_path}/slow.py:listen']"
    with process(*arguments(out, "strategy.steps=5", listener)) as child:
        wait_for((tmp_path / "reached").exists, child)
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert child.poll() is None
        child.send_signal(second)
        _, told = child.communicate(timeout=30)
    assert child.returncode == code
    assert "Traceback" not in told
    run = only_run(out)
    assert run.checkpoints() == []
    (tmp_path / "slow").unlink()
    said = luthier("train", "--resume", run.path, "--no-measure")
    assert said.code == 0, said.err
    result = run.result()
    assert result is not None
    assert (result.status, result.steps) == ("finished", 5)


def test_a_run_that_has_finished_is_left_alone(straight: Run) -> None:
    before = {path: path.stat().st_mtime_ns for path in straight.path.rglob("*")}
    said = luthier("train", "--resume", straight.path)
    assert (said.code, said.out) == (0, "")
    assert said.err == f"{straight.name} has finished at step 600; nothing is left to do\n"
    assert {path: path.stat().st_mtime_ns for path in straight.path.rglob("*")} == before
