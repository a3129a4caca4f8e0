"""The manual's examples run as they are shown."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from docs.outputs import EXAMPLES, environment
from PIL import Image

import luthier
from luthier.data import open_source
from luthier.recipe import read

QUICK = ("--set", "strategy.epochs=1", "--no-measure")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


def run(folder: Path, *words: str) -> str:
    program = [str(Path(sys.executable).with_name("luthier"))] if words[0] == "luthier" else [sys.executable]
    words = words[1:] if words[0] == "luthier" else words
    done = subprocess.run(
        [*program, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_recipe_reads(folder: Path) -> None:
    recipe = read(folder / "mine.toml")
    assert recipe.stop.patience == 5
    run(folder, "luthier", "train", "mine.toml", *QUICK, "--set", "strategy.schedule.warmup_epochs=0")


def test_a_listener_writes_its_own_curve_and_stops_the_run(folder: Path) -> None:
    listener = 'listeners=["listener.py:Watch"]'
    said = run(
        folder, "luthier", "train", "lenet5-digits", "--no-measure", "--set", "data.validation=0.1", "--set", listener
    )
    assert "% is enough" in said
    (found,) = luthier.runs(folder / "runs")
    result = found.result()
    assert result is not None
    assert result.status == "stopped"
    assert result.validation_accuracy is not None
    assert result.validation_accuracy >= 95
    assert b"own/conv1_gradient" in found.event_file().read_bytes()


def test_a_network_and_a_data_set_of_ones_own_train(folder: Path) -> None:
    own = ("--set", "model.name=network.py:two_layers", "--set", "model.options.hidden=32")
    run(folder, "luthier", "train", "lenet5-digits", *QUICK, *own)
    run(folder, "luthier", "train", "lenet5-digits", *QUICK, "--set", "data.name=bars.py:bars")
    run(folder, "luthier", "data", "show", "bars.py:bars", "-n", "4", "-o", "bars.png")


def test_a_selection_chooses_values_and_trains_with_them(folder: Path) -> None:
    assert "strategy.learning_rate" in run(folder, "selecting.py")


def test_the_verbs_in_python_and_the_exported_file_without_luthier(folder: Path) -> None:
    said = run(folder, "in_python.py")
    assert "of the training part" in said
    source = open_source("digits").eval
    assert isinstance(source.images, np.ndarray)
    Image.fromarray(source.images[0][..., 0]).save(folder / "digit.png")
    assert run(folder, "deployed.py", "digits.onnx", "digit.png").strip() in list("0123456789")
    text = (folder / "deployed.py").read_text("utf-8")
    assert not re.search(r"^\s*(?:import|from) (?:luthier|torch)", text, re.MULTILINE)
