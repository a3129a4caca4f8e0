from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from luthier.store import Run, open_run
from luthier.training import train
from tests.compress.making import digits


@pytest.fixture(scope="session")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two epochs, with a validation part and averaged weights."""
    recipe = digits("strategy.epochs=2", "data.validation=0.2", "strategy.average_decay=0.9", "checkpoint.keep=9")
    return train(recipe, out=tmp_path_factory.mktemp("runs"))


@pytest.fixture
def trained(trained_once: Run, tmp_path: Path) -> Run:
    """A copy that a test may change."""
    return open_run(shutil.copytree(trained_once.path, tmp_path / trained_once.name))
