"""What is wrong on PyTorch is told in the same words on MindSpore, and with the same exit code."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.calling import Said, luthier

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

OWN = {
    "torch": """
from torch import nn

def raises(num_classes):
    raise FileNotFoundError("weights.bin is not here")

def empty():
    return nn.Flatten()

def narrow():
    return nn.Sequential(nn.Flatten(), nn.Linear(1024, 7))
""",
    "mindspore": """
from mindspore import nn

def raises(num_classes):
    raise FileNotFoundError("weights.bin is not here")

def empty():
    return nn.Flatten()

def narrow():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(1024, 7))
""",
}
MISTAKES = (
    "model.name=own.py:raises",
    "model.name=own.py:empty",
    "model.name=own.py:narrow",
    "model.name=own.py:narow",
    "model.options.widht=2",
    "model.options.width=0",
    "strategy.optimizer.groups=[{match = 'conv1.wieght'}]",
    "strategy.learning_rate=1e30",
    "data.batch_size=2000",
    "data.name=mnist",
    "data.normalize={mean=[0.1,0.2,0.3], std=[1,1,1]}",
    "listeners=['own.py:Nobody']",
)


def told(said: Said) -> str:
    """From the error on; before it stand the run's own lines."""
    assert said.out == ""
    assert said.err.count("error: ") == 1, said.err
    return said.err.partition("error: ")[2]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_told_as_on_pytorch(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path / "data"))
    said = {}
    for engine, code in OWN.items():
        (tmp_path / "own.py").write_text(code)
        settings = [f"engine={engine}", "strategy.steps=4", mistake]
        chosen = [argument for setting in settings for argument in ("--set", setting)]
        said[engine] = luthier("train", "lenet5-digits", "--no-measure", *chosen)
    assert said["mindspore"].code == said["torch"].code > 0
    assert told(said["mindspore"]) == told(said["torch"])
