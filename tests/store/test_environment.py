from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from luthier.store import Run
from luthier.store.environment import here, without_secrets

NOON = datetime(2026, 11, 18, 12, 0)


def test_it_says_what_ran_where(run: Run) -> None:
    found = run.environment()
    assert datetime.fromisoformat(found.created) == NOON.astimezone()
    assert found.python == ".".join(map(str, sys.version_info[:3]))
    assert found.packages["numpy"] == version("numpy")
    assert set(found.packages) == {"luthier", "mindspore", "numpy", "onnxruntime", "torch"}
    assert 1 <= found.usable_cpus <= found.cpus
    assert found.memory_mb is None or found.memory_mb > 100
    assert found.cpu
    assert found.command == without_secrets(sys.argv)


def test_only_the_variables_that_set_threads_are_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("SECRET_OF_THE_HOUSE", "varnish")
    found = here(NOON)
    assert found.threads["OMP_NUM_THREADS"] == "3"
    assert "varnish" not in repr(found)


def test_the_commit_is_that_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert here(NOON).git_commit is None
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q"], check=True)
    assert here(NOON).git_commit is None
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert here(NOON).git_commit == head


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert here(NOON).git_commit is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["train", "lenet5", "--set", "strategy.epochs=5"], ["train", "lenet5", "--set", "strategy.epochs=5"]),
        (["board", "--token", "varnish", "."], ["board", "--token", "***", "."]),
        (["board", "--token=varnish"], ["board", "--token=***"]),
        (["copy", "s3://key:varnish@host/x"], ["copy", "s3://***@host/x"]),
        (["--set", "job.secret_key=varnish"], ["--set", "job.secret_key=***"]),
        (["show", "password"], ["show", "password"]),
    ],
)
def test_what_looks_secret_is_masked(given: list[str], kept: list[str]) -> None:
    assert without_secrets(given) == kept


def test_no_framework_is_imported() -> None:
    code = (
        "import sys, datetime, luthier.store.environment as e; e.here(datetime.datetime.now());"
        "import luthier.store; print({'torch', 'mindspore', 'matplotlib', 'onnx', 'onnxruntime', 'tensorboard'}"
        " & sys.modules.keys())"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
