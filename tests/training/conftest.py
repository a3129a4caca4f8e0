from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from luthier.recipe import load
from luthier.store import Run, open_run
from luthier.training import train

SHORT = ("strategy.steps=30", "checkpoint.every_steps=10", "record.every_steps=5", "record.histograms=false")


@pytest.fixture(scope="session")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Thirty steps of LeNet-5 on digits, with three checkpoints: to look at, not to change."""
    return train(load("lenet5-digits", SHORT), out=tmp_path_factory.mktemp("trained"))


@pytest.fixture
def unfinished(trained_once: Run, tmp_path: Path) -> Run:
    """A copy of it as if the process had been killed after its last checkpoint."""
    path = shutil.copytree(trained_once.path, tmp_path / trained_once.name)
    (path / "result.json").unlink()
    return open_run(path)
