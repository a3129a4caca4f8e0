from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from luthier.recipe import Recipe, parse
from luthier.tuning import Study, tune

SMALL = """
[data]
name = "digits"
batch_size = 64
normalize = { mean = [0.3058], std = [0.3761] }
train = []
[model]
name = "lenet5"
[strategy]
epochs = 3
learning_rate = 0.02
[score]
runs = 2
warmup = 0
[space]
"strategy.learning_rate" = { log = [0.005, 0.1] }
"model.options.width" = { choice = [0.5, 1.0] }
"""


def small(more: str = "") -> Recipe:
    """LeNet-5 on the digits, 20 steps an epoch."""
    return parse(SMALL + more, place="small.toml", name="small")


def tuned(out: Path, recipe: Recipe | None = None, **options: Any) -> Study:
    """A study of one worker, without what comes after the search unless it is asked for."""
    settings: dict[str, Any] = {"workers": 1, "seeds": 0, "ablate": False, "searcher": "random"}
    return tune(recipe or small(), out=out, **{**settings, **options})


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Six trials, the final trainings and the ablation: to look at, not to change."""
    return tuned(tmp_path_factory.mktemp("tuned") / "study", trials=6, seeds=2, ablate=True, workers=2)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of one trial: to copy."""
    return tuned(tmp_path_factory.mktemp("tuned") / "once", trials=1).path


@pytest.fixture
def copied(once: Path, tmp_path: Path) -> Path:
    """The same, to do with as a test likes."""
    return Path(shutil.copytree(once, tmp_path / "study"))
