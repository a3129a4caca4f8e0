from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from luthier.compress import export, exported_text, format_names, open_network
from luthier.compress.registry import writes
from luthier.errors import ExportError, RecipeError, StoreError
from tests.compress.making import digits


def test_weights_come_back_by_name_in_their_usual_order(tmp_path: Path) -> None:
    result = export(digits(), output=tmp_path / "model.safetensors", format="safetensors")
    given = load_file(result.path)
    with open_network(digits()) as network:
        own = network.module.state_dict()
        assert given.keys() == own.keys()
        assert all(np.array_equal(given[name], own[name].numpy()) for name in own)
    with safe_open(result.path, "np") as file:
        assert json.loads(file.metadata()["classes"])[9] == "9"
    assert (result.opset, result.max_error) == (None, None)
    assert exported_text(result).endswith("safetensors, 0.248 MB")


def test_a_moving_average_is_what_is_exported(tmp_path: Path) -> None:
    """A checkpoint's weights are the average; the plain ones are in its state, and are not meant."""
    from luthier.store import create_run, save_checkpoint
    from luthier.testing import random_batches
    from luthier.training import open_parts
    from tests.compress.making import NOON

    recipe = digits("strategy.average_decay=0.9")
    data, session = open_parts(recipe)
    for batch in random_batches(5, shape=(32, 32, 1)):
        session.step(batch, 0.1)
    state, images = session.state(), random_batches(1, shape=(32, 32, 1))[0].images
    expected = session.logits(images)
    weights = {key.removeprefix("average/"): array for key, array in state.items() if key.startswith("average/")}
    run = create_run(tmp_path, recipe, now=NOON)
    rest = {key: array for key, array in state.items() if not key.startswith("average/")}
    save_checkpoint(run, 5, weights, rest, {})
    data.close()
    with open_network(run) as network:
        assert np.array_equal(network.session.logits(images), expected)


def test_a_file_takes_the_place_of_the_one_before_at_once_and_folders_are_made(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "model.onnx"
    export(digits(), output=target)
    before = target.read_bytes()
    export(digits("strategy.seed=2"), output=target)
    assert target.read_bytes() != before
    assert [path.name for path in target.parent.iterdir()] == ["model.onnx"]


def test_a_path_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="is a folder"):
        export("no recipe at all", output=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Could not make the folder of model\.onnx"):
        export("no recipe at all", output=tmp_path / "file" / "model.onnx")


def test_an_unknown_format_answers_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"Unknown format 'onx'\n  Perhaps you meant 'onnx'"):
        export(digits(), output=tmp_path / "model", format="onx")
    for weights in ("safetensors", "ckpt"):
        with pytest.raises(ExportError, match="take no pixels"):
            export(digits(), output=tmp_path / "model", format=weights, pixels=True)


def test_a_format_is_registered_once() -> None:
    assert format_names() == ("ckpt", "mindir", "onnx", "safetensors")
    with pytest.raises(ValueError, match="registered already"):
        writes("onnx")


def test_importing_the_packages_loads_no_framework() -> None:
    code = (
        "import sys, luthier.compress, luthier.measure;"
        "print([name for name in ('torch', 'onnx', 'onnxruntime', 'PIL', 'matplotlib') if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "[]"
    names = import_module("luthier.compress").__all__  # the package is a verb, too
    assert names == sorted(names)
