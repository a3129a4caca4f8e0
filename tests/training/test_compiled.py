"""mode = "graph": the same training, compiled."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from luthier.training import StepEnded
from tests.cli.calling import process
from tests.training.making import result_of, trained

COMPILER = shutil.which("g++") or shutil.which("clang++")


@pytest.mark.skipif(COMPILER is None, reason="torch.compile needs a C++ compiler, which this machine has not")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_it_gives_the_eager_ones_numbers(tmp_path: Path) -> None:
    """PyTorch's compiler uses what PyTorch deprecates."""
    eager, told = trained(tmp_path / "eager", "strategy.steps=20", "mode=eager")
    graph, told_too = trained(tmp_path / "graph", "strategy.steps=20", "mode=graph")
    losses = [[float(event.loss) for event in part if isinstance(event, StepEnded)] for part in (told, told_too)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
    assert result_of(graph).mode == "graph"
    weights = [load_file(run.checkpoints()[-1] / "weights.safetensors") for run in (eager, graph)]
    assert weights[0].keys() == weights[1].keys()
    for name in weights[0]:
        np.testing.assert_allclose(weights[0][name], weights[1][name], atol=1e-3)


@pytest.mark.slow
def test_without_a_compiler_it_says_what_it_needs(tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path), "CXX": "", "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    with process("train", "lenet5-digits", "--set", "mode=graph", "--out", tmp_path / "runs", env=env) as child:
        _, told = child.communicate()
    assert child.returncode == 2
    assert "Traceback" not in told
    assert "error: torch.compile cannot compile the training: " in told
    assert told.endswith(" - at mode\n  It needs a C++ compiler on the path. Or: --set mode=eager\n")
