"""`luthier tune`, as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from luthier.recipe import load
from tests.cli.calling import luthier

QUICK = ("--set", "record.images=0", "--steps", "8", "--candidates", "momentum=[0.8,0.9]")


def test_select_leaves_a_recipe_that_trains(tmp_path: Path) -> None:
    said = luthier("tune", "lenet5-digits", "--select", *QUICK, "--json")
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert set(told["values"]) == {"strategy.learning_rate", "strategy.optimizer.momentum"}
    folder = tmp_path / "lenet5-digits-selected"
    assert load(folder / "selected.toml").strategy.learning_rate == told["values"]["strategy.learning_rate"]
    assert "Go on with: luthier train lenet5-digits-selected/selected.toml" in said.err
    assert (folder / "selection.json").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lenet5-digits", "--select", "--candidates", "momentum=0.9"], "Expected field=[value, …], got"),
        (["lenet5-digits", "--select", "--candidates", "momentun=[0.9]"], "Perhaps you meant 'momentum'"),
        (["lenet5-digits", "--select", "--candidates", "model.options.widht=[1]"], "Perhaps you meant 'width'"),
        (["lenet5-digits", "--select", "--candidates", "momentum=[7.0]"], "momentum"),
        ([], "Expected a recipe or --resume STUDY"),
        (["lenet5-digits"], "Expected a budget or a number of trials"),
        (["lenet5-digits", "--budget", "soon"], "Expected a time such as 90s, 30m or 2h, got 'soon'"),
        (["lenet5-digits", "--budget", "0s"], "Expected a budget above 0"),
        (["lenet5-digits", "--trials", "1", "--searcher", "tpee"], "Perhaps you meant 'tpe'"),
        (["lenet5-digits", "--trials", "1", "--space", "lenet"], "Perhaps you meant 'lenet5'"),
        (["lenet5-digits", "--trials", "1", "--require", "accuracy>65"], "Expected a limit such as accuracy>=65"),
        (["--resume", "nowhere", "--budget", "1m"], "'nowhere' is no study"),
    ],
)
def test_mistakes_get_a_sentence(words: list[str], sentence: str) -> None:
    said = luthier("tune", *words)
    assert said.code == 2
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert not Path("lenet5-digits-study").exists()
