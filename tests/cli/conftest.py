from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from luthier.recipe import load
from luthier.store import Run
from luthier.training import train


@pytest.fixture(autouse=True)
def _no_data_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test in a folder of its own, where `runs` goes and no data set lies."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Sixty steps of LeNet-5 on digits: to look at, not to change."""
    settings = ["strategy.steps=60", "strategy.learning_rate=0.02", "score.runs=2", "checkpoint.every_steps=30"]
    return train(load("lenet5-digits", settings), out=tmp_path_factory.mktemp("trained"))


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """Two classes of eight images in train and three in eval, each of one colour."""
    folder = tmp_path / "pets"
    for split, count in (("train", 8), ("eval", 3)):
        for name, colour in (("cat", (200, 30, 30)), ("dog", (30, 30, 200))):
            (folder / split / name).mkdir(parents=True)
            for number in range(count):
                Image.new("RGB", (32, 32), colour).save(folder / split / name / f"{number}.png")
    return folder
