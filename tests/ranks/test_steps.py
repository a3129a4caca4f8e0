"""Two processes take the step of one with the doubled batch, on both engines."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from luthier.engines import Arrays
from tests.ranks.launching import msrun, torchrun
from tests.ranks.stepping import stepped

ROUNDING = 2e-6  # of an array's greatest value, for a network without BatchNorm and without Adam
DRIFTS = 3.0  # times as far as one process comes from itself when its batch is turned round
APART = 1e-3  # BatchNorm of half a batch makes another network
MINDSPORE = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")


def states(folder: Path, case: str) -> tuple[Arrays, Arrays]:
    return dict(np.load(folder / f"{case}-0.npz")), dict(np.load(folder / f"{case}-1.npz"))


def furthest(one: Arrays, other: Arrays) -> float:
    """The greatest difference, as a share of the greatest value of its array."""
    numbers = [key for key, array in one.items() if array.dtype.kind == "f"]
    assert one.keys() >= {"losses"}
    return max(
        float(np.abs(one[key] - other[key]).max()) / max(float(np.abs(other[key]).max()), 1e-6) for key in numbers
    )


def check(engine: str, folder: Path, case: str) -> None:
    first, second = states(folder, case)
    own = [key for key in first if key.startswith("rng/")]
    assert all(first[key].tobytes() == second[key].tobytes() for key in first if key not in own), case
    alone = stepped(engine, case)
    assert alone.keys() == first.keys()
    if case in ("lenet5", "lenet5-compiled", "lenet5-split"):
        assert furthest(first, alone) < ROUNDING, case
    elif case.endswith("apart"):
        assert furthest(first, alone) > APART, case
    else:
        assert furthest(first, alone) <= DRIFTS * furthest(stepped(engine, case, backwards=True), alone), case


def together(engine: str, folder: Path, *cases: str) -> None:
    module = ("-m", "tests.ranks.stepping", engine, str(folder), *cases)
    done = torchrun(*module) if engine == "torch" else msrun(folder / "logs", *module)
    assert done.returncode == 0, done.stdout + done.stderr
    for case in cases:
        check(engine, folder, case)


def test_on_torch(tmp_path: Path) -> None:
    """Where BatchNorm is not joined, all ranks have the mean of their statistics: one network to evaluate and save."""
    together("torch", tmp_path, "lenet5", "lenet5-everything", "slim", "slim-apart")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # PyTorch's own, while its compiler is loaded
def test_on_torch_compiled_and_on_a_residual_network(tmp_path: Path) -> None:
    together("torch", tmp_path, "lenet5-compiled", "lenet5-split", "slim-compiled", "resnet18")


@MINDSPORE
@pytest.mark.timeout(600)
def test_on_mindspore(tmp_path: Path) -> None:
    together("mindspore", tmp_path, "lenet5-split", "slim")


@MINDSPORE
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_one_rank_of_mindspore_may_look_at_an_activation(tmp_path: Path, mode: str) -> None:
    """In a graph by an eager pass, whose sums over the ranks all of them must take part in."""
    done = msrun(tmp_path / "logs", "-m", "tests.ranks.looking", mode)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seen: activation/stage1.norm1 " in done.stdout


@MINDSPORE
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_on_mindspore_in_the_other_modes_and_on_a_residual_network(tmp_path: Path) -> None:
    together("mindspore", tmp_path, "lenet5", "lenet5-everything", "slim-compiled", "resnet18-compiled")
