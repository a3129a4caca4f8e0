"""A run that another process is still training is resumed by nobody else."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.cli.calling import luthier, process
from tests.training.leftovers import only_run

SETTINGS = ("strategy.epochs=500", "record.every_steps=10", "record.histograms=false", "checkpoint.every_steps=20")


def test_a_second_resume_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    first = process("train", "lenet5-digits", "--no-measure", "--out", tmp_path / "runs", *settings)
    try:
        wait_for_a_checkpoint(tmp_path / "runs")
        run = only_run(tmp_path / "runs")
        said = luthier("train", "--resume", run.path)
        assert (said.code, said.out) == (2, "")
        assert f"error: Run {run.name} is being written by process {first.pid} since " in said.err
        assert first.poll() is None
        assert luthier("evaluate", run.path).code == 0  # a reader needs no leave
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    reached = int(run.checkpoints()[-1].name.removeprefix("step-"))
    second = process("train", "--resume", run.path, "--no-measure")
    try:
        assert second.stderr is not None
        assert f"resumed at step {reached}" in second.stderr.readline()
    finally:
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=60)
    assert second.returncode == 130
    assert not (run.path / ".writer").exists()


def wait_for_a_checkpoint(out: Path) -> None:
    for _ in range(600):
        if list(out.glob("*/checkpoints/step-*")):
            return
        time.sleep(0.1)
    raise AssertionError("no checkpoint within a minute")
