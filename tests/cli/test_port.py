"""`luthier port` as a person calls it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from luthier.weights import read_weights
from tests.cli.calling import luthier

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

OTHERS = Path(__file__).parents[1] / "port" / "others.py"


def test_a_whole_port_ends_with_0_and_a_partial_one_with_1(tmp_path: Path) -> None:
    said = luthier("port", f"{OTHERS}:Squeeze", "--set", "channels=8", "--input", "1,8,6,6", "-o", tmp_path / "whole")
    assert (said.code, said.err) == (0, "")
    assert f"{tmp_path / 'whole'}/model.py:Squeeze, 4 arrays of weights" in said.out
    names = {path.name for path in (tmp_path / "whole").iterdir() if path.is_file()}
    assert names == {
        *("map.json", "model.py", "port.json", "report.html", "report.json", "weights.ckpt", "weights.safetensors"),
    }
    said = luthier("port", f"{OTHERS}:Partly", "--input", "1,8", "-o", tmp_path / "partly", "--language", "zh")
    assert said.code == 1
    assert "refused: No rule for aten.special_bessel_j0.default on MindSpore 2.10 - at " in said.out
    assert "移植报告" in (tmp_path / "partly" / "report.html").read_text("utf-8")


def test_an_analysis_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = luthier("port", f"{OTHERS}:Partly", "--input", "1,8", "--analyse", "--json")
    assert said.code == 1
    report = json.loads(said.out)
    assert {item["name"]: item["difficulty"] for item in report["operators"]} == {
        "aten.special_bessel_j0.default": "by hand",
        "torch.nn.Linear": "none",
    }
    assert list(tmp_path.iterdir()) == []


def test_a_recipe_is_ported_with_its_own_inputs(tmp_path: Path) -> None:
    said = luthier("port", "lenet5-digits", "-o", tmp_path)
    assert said.code == 0, said.err
    assert "class Lenet5(nn.Cell):" in (tmp_path / "model.py").read_text("utf-8")


def test_a_recipe_becomes_a_project_that_trains(tmp_path: Path) -> None:
    said = luthier("port", "--recipe", "lenet5-digits", "--set", "strategy.epochs=2", "-o", tmp_path / "project")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{tmp_path / 'project'}/train.py, {tmp_path / 'project'}/eval.py and ")
    assert "epoch_size=2," in (tmp_path / "project" / "src" / "config.py").read_text("utf-8")
    said = luthier("port", "--recipe", "lenet5-digits", "--set", "stop.patience=2", "-o", tmp_path / "none")
    assert said.code == 2
    assert "A project cannot carry over early stopping - at stop.patience in lenet5-digits" in said.err
    said = luthier("port", "net.py:Net", "--recipe", "lenet5-digits", "-o", tmp_path / "none")
    assert said.code == 2
    assert "A project is made of a recipe alone - at --recipe" in said.err
    assert not (tmp_path / "none").exists()


def test_weights_alone_are_renamed_by_a_map(tmp_path: Path) -> None:
    luthier("port", f"{OTHERS}:Partly", "--input", "1,8", "-o", tmp_path / "ported")
    state = {
        f"{layer}.{name}": torch.randn(shape)
        for layer, out in (("first", 8), ("last", 4))
        for name, shape in (("weight", (out, 8)), ("bias", (out,)))
    }
    torch.save(state, tmp_path / "a.pt")
    where = ("--weights-only", tmp_path / "a.pt", "--map", tmp_path / "ported" / "map.json")
    said = luthier("port", *where, "-o", tmp_path / "b.safetensors")
    assert said.code == 0, said.err
    assert np.array_equal(read_weights(tmp_path / "b.safetensors")["last.bias"], state["last.bias"].numpy())
    torch.save({**state, "lsat.bias": torch.zeros(4)}, tmp_path / "a.pt")
    said = luthier("port", *where, "-o", tmp_path / "b.safetensors")
    assert said.code == 2
    assert "The weights do not fit the map: none missing; 1 extra (lsat.bias)" in said.err
    assert "'lsat.bias' is perhaps 'last.bias'." in said.err
    assert luthier("port", "--weights-only", tmp_path / "a.pt").code == 2


def test_nothing_named_is_a_mistake() -> None:
    assert "error: Nothing to port was named - at SOURCE" in luthier("port").err
