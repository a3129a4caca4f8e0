"""A disk that fills up costs the new checkpoint, not the old ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from luthier.store import Run, load_checkpoint
from tests.cli.calling import process
from tests.training.leftovers import only_run, same_end

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither tmpfs nor limits")

SETTINGS = ("strategy.steps=150", "checkpoint.every_steps=10", "checkpoint.keep=20", "record.every_steps=5")
Start = Callable[..., "subprocess.Popen[str]"]


def train(out: Path, *more: str | Path, start: Start = process) -> tuple[int, str]:
    chosen = [argument for setting in SETTINGS for argument in ("--set", setting)]
    first = ["train", "lenet5-digits", "--no-measure", "--out", out, *chosen]
    with start(*(more or first)) as child:
        _, told = child.communicate()
    return child.returncode, told


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("straight")
    code, told = train(out)
    assert code == 0, told
    return only_run(out)


def mount(*options: str) -> bool:
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)):
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def check_failure(run: Run, code: int, told: str, reason: str) -> list[Path]:
    """One sentence of what failed; every checkpoint that is there is whole."""
    assert code == 1
    assert "Traceback" not in told
    assert told.count("error: ") == 1
    assert "error: Could not write " in told
    assert reason in told
    kept = run.checkpoints()
    for path in kept:
        load_checkpoint(path)
    assert [path.name for path in (run.path / "checkpoints").iterdir() if path.name.startswith(".")] == []
    return kept


def test_a_full_disk_keeps_the_older_checkpoints(small_disk: Path, straight: Run) -> None:
    code, told = train(small_disk)
    run = only_run(small_disk)
    kept = check_failure(run, code, told, "No space left on device")
    assert 1 <= len(kept) < 15
    assert "resume" in told.rpartition("error: ")[2]
    code, told = train(small_disk, "train", "--resume", run.path, "--no-measure")
    assert code == 1  # still full
    assert run.checkpoints() == kept
    assert mount("-o", "remount,size=40m", str(small_disk))
    code, told = train(small_disk, "train", "--resume", run.path, "--no-measure")
    assert code == 0, told
    assert f"resumed at step {int(kept[-1].name.removeprefix('step-'))}" in told
    assert same_end(run, straight)


def test_a_limit_on_files_is_told_and_forgiven(straight: Run, tmp_path: Path) -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))

    code, told = train(tmp_path, start=lambda *arguments: process(*arguments, preexec_fn=limited))
    run = only_run(tmp_path)
    check_failure(run, code, told, "File too large")
    assert "error: Could not write checkpoint step-00000010" in told
    assert f"go on with: luthier train --resume {run.path}" in told
    result = run.result()
    assert result is not None
    assert result.status == "failed"
    assert result.reason is not None
    assert "File too large" in result.reason
    code, told = train(tmp_path, "train", "--resume", run.path, "--no-measure")
    assert code == 0, told
    assert same_end(run, straight)
