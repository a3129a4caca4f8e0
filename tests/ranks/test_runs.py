"""A run of two ranks from the command line: one folder, one voice, the weights of one process; killed, and resumed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess

import msgspec
import numpy as np
import pytest

from luthier.store import Run, load_checkpoint, open_run, runs
from tests.cli.calling import luthier
from tests.ranks.launching import msrun, torchrun
from tests.training.leftovers import same_end
from tests.training.making import result_of

pytestmark = pytest.mark.timeout(600)

QUIET = ("record.histograms=false", "record.images=0")
EVERYTHING = (
    *(*QUIET, "strategy.steps=24", "data.batch_size=64", "checkpoint.every_steps=4", "checkpoint.keep=9"),
    *("data.validation=0.2", "strategy.average_decay=0.9", "strategy.optimizer=adam", "record.every_steps=3"),
    "model.options={dropout = 0.2, normalisation = 'batch'}",
)
PIDS = """
import os, signal
from pathlib import Path
from luthier.zoo.lenet5 import lenet5

HERE = Path(__file__).parent
(HERE / f"pid-{os.environ.get('RANK')}").write_text(str(os.getpid()))

def network(num_classes, shape):
    return lenet5(num_classes=num_classes, shape=shape, dropout=0.2, normalisation="batch")

def strike(event):
    if type(event).__name__ == "StepEnded" and (HERE / f"strike-{event.step}").exists():
        number = int((HERE / f"strike-{event.step}").read_text())
        (HERE / f"strike-{event.step}").unlink()
        os.kill(int((HERE / "pid-1").read_text()), number)
"""
STRIKES = """
import os, signal
from pathlib import Path

def strike(event):
    mark = Path(__file__).with_name(f"strike-{getattr(event, 'step', 0)}")
    if type(event).__name__ == "StepEnded" and mark.exists():
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
"""
DIVERGING = """
import os
from torch import nn

class Network(nn.Module):
    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.fc, self.calls = nn.Linear(1024, num_classes), 0

    def forward(self, x):
        self.calls += self.training
        spoilt = os.environ.get("RANK") == "1" and self.calls == 3
        return self.fc(x.flatten(1)[:, :1024]) * (float("inf") if spoilt else 1.0)
"""


def settings(*chosen: str) -> list[str]:
    return [argument for setting in chosen for argument in ("--set", setting)]


def train(out: Path, *chosen: str, ranks: int = 2) -> CompletedProcess[str]:
    command = ("-m", "luthier", "train", "lenet5-digits", "--no-measure", "--out", str(out), *settings(*chosen))
    return torchrun(*command, ranks=ranks)


def resume(run: Run, ranks: int = 2) -> CompletedProcess[str]:
    return torchrun("-m", "luthier", "train", "--resume", run.path, "--no-measure", ranks=ranks)


def only_run(out: Path) -> Run:
    (run,) = runs(out)
    return run


def errors(done: CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("error:")]


def test_two_ranks_make_the_run_of_one_process_with_the_doubled_batch(tmp_path: Path) -> None:
    done = train(tmp_path / "two", *QUIET, "strategy.epochs=2", "data.batch_size=32")
    assert done.returncode == 0, done.stderr
    assert (
        luthier(
            *("train", "lenet5-digits", "--no-measure", "--out", tmp_path / "one"),
            *settings(*QUIET, "strategy.epochs=2", "data.batch_size=64"),
        ).code
        == 0
    )
    two, one = only_run(tmp_path / "two"), only_run(tmp_path / "one")
    weights = [load_checkpoint(run.checkpoints()[-1]).weights for run in (two, one)]
    for name, array in weights[0].items():
        np.testing.assert_allclose(array, weights[1][name], atol=2e-6, err_msg=name)
    together, alone = result_of(two), result_of(one)
    assert (together.steps, together.samples, together.accuracy) == (alone.steps, 360, alone.accuracy)
    assert together.loss == pytest.approx(alone.loss, abs=1e-5)
    assert together.images_per_second
    environment = two.environment()
    assert (environment.ranks, environment.backend) == (2, "gloo")
    assert (one.environment().ranks, one.environment().backend) == (1, None)
    assert done.stderr.count("2 ranks over gloo") == 1
    assert len(re.findall(r"^epoch 2/2", done.stderr, re.MULTILINE)) == 1


def test_a_dead_rank_ends_the_others_with_a_sentence_and_the_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    """First a rank is killed, then one is asked to stop: both times the run goes on as if nothing had been."""
    (tmp_path / "own.py").write_text(PIDS)
    chosen = (*EVERYTHING[:-1], f"model.name={tmp_path}/own.py:network", f'listeners=["{tmp_path}/own.py:strike"]')
    assert train(tmp_path / "straight", *chosen).returncode == 0
    (tmp_path / "strike-7").write_text("9")
    (tmp_path / "strike-14").write_text("15")
    killed = train(tmp_path / "struck", *chosen)
    run = only_run(tmp_path / "struck")
    assert killed.returncode == 1
    assert errors(killed) == ["error: Rank 1 of 2 ended without a word: the others stop too"]
    assert result_of(run).status == "failed"
    stopped = resume(run)
    assert "resumed at step 4" in stopped.stderr
    assert "Interrupted at step 15. Go on with: torchrun --nproc-per-node 2 -m luthier train --resume" in stopped.stderr
    assert not errors(stopped)
    assert result_of(run).status == "interrupted"
    last = resume(run)
    assert last.returncode == 0, last.stderr
    assert "resumed at step 15" in last.stderr
    same_end(only_run(tmp_path / "straight"), open_run(run.path))


def test_a_loss_that_is_not_finite_on_one_rank_stops_all_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DIVERGING)
    done = train(tmp_path / "runs", *QUIET, "strategy.steps=9", f"model.name={tmp_path}/own.py:Network")
    assert done.returncode == 1
    (sentence,) = errors(done)
    assert re.match(r"error: The loss is (nan|inf) on rank 1 at step 3, learning rate ", sentence)
    result = result_of(only_run(tmp_path / "runs"))
    assert (result.status, result.steps) == ("failed", 2)


def test_another_number_of_ranks_is_refused(tmp_path: Path) -> None:
    assert train(tmp_path, *QUIET, "strategy.steps=40", "checkpoint.every_steps=20").returncode == 0
    run = only_run(tmp_path)
    run.write_result(msgspec.structs.replace(result_of(run), status="interrupted"))
    said = luthier("train", "--resume", run.path)
    assert said.code == 1
    assert f"{run.name} was begun by 2 ranks of 32 images a batch, and would not be the same run with 1" in said.err
    assert "Go on with 2 ranks, or begin a new run with --from" in said.err
    told = luthier("evaluate", run.path, "--json")
    assert told.code == 0, told.err
    assert msgspec.json.decode(told.out)["samples"] == 360


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_two_ranks_of_mindspore_make_the_run_of_one_process(tmp_path: Path) -> None:
    chosen = (*QUIET, "engine=mindspore", "mode=graph", "strategy.epochs=1")
    command = ("-m", "luthier", "train", "lenet5-digits", "--no-measure", "--out")
    done = msrun(tmp_path / "logs", *command, tmp_path / "two", *settings(*chosen, "data.batch_size=32"))
    assert done.returncode == 0, done.stdout + done.stderr
    said = luthier(*command[2:], tmp_path / "one", *settings(*chosen, "data.batch_size=64"))
    assert said.code == 0, said.err
    two, one = only_run(tmp_path / "two"), only_run(tmp_path / "one")
    weights = [load_checkpoint(run.checkpoints()[-1]).weights for run in (two, one)]
    for name, array in weights[0].items():
        np.testing.assert_allclose(array, weights[1][name], atol=2e-6, err_msg=name)
    assert result_of(two).accuracy == result_of(one).accuracy
    assert (two.environment().ranks, two.environment().backend) == (2, "mccl")
    warned = [line for line in (done.stdout + done.stderr).splitlines() if "[WARNING]" in line]
    assert [line for line in warned if "Distributed job is spawned" not in line] == []  # msrun's own
    assert "[WARNING] " in (two.path / "log.txt").read_text()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_a_killed_run_of_two_ranks_of_mindspore_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    """msrun ends the ranks that are left; what each draws for its own dropout goes on too."""
    (tmp_path / "own.py").write_text(STRIKES)
    chosen = (
        *(*QUIET, "engine=mindspore", "mode=graph", "strategy.steps=12", "data.batch_size=64"),
        *("checkpoint.every_steps=4", "checkpoint.keep=9", "strategy.optimizer=adam", "strategy.average_decay=0.9"),
        *("model.options={dropout = 0.2, normalisation = 'batch'}", f'listeners=["{tmp_path}/own.py:strike"]'),
    )
    command = ("-m", "luthier", "train", "lenet5-digits", "--no-measure", "--out")
    done = msrun(tmp_path / "logs", *command, tmp_path / "straight", *settings(*chosen))
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "strike-7").touch()
    killed = msrun(tmp_path / "logs", *command, tmp_path / "struck", *settings(*chosen))
    run = only_run(tmp_path / "struck")
    assert killed.returncode != 0
    assert [path.name for path in run.checkpoints()] == ["step-00000004"]
    last = msrun(tmp_path / "logs", *command[:3], "--resume", run.path, "--no-measure")
    assert last.returncode == 0, last.stdout + last.stderr
    assert "resumed at step 4" in last.stdout + last.stderr
    same_end(only_run(tmp_path / "straight"), open_run(run.path))


@pytest.mark.slow
def test_early_stopping_is_decided_once_for_all(tmp_path: Path) -> None:
    patience = ("stop.patience=1", "stop.min_delta=90", "data.validation=0.2", "strategy.epochs=9")
    assert train(tmp_path, *QUIET, *patience).returncode == 0
    result = result_of(only_run(tmp_path))
    assert (result.status, result.epochs) == ("stopped", 2)  # at its very end


@pytest.mark.slow
def test_a_mistake_is_told_once(tmp_path: Path) -> None:
    for chosen, sentence in (
        ("engine=mindspore", "error: The mindspore engine was started by torchrun"),
        ("data.batch_size=800", "error: A step takes 1,600 images of all ranks together"),
        ("strategy.allreduce_split=[85, 160]", "error: Expected positions below 8"),
        ("strategy.epoch=1", "error: "),
    ):
        done = train(tmp_path / "runs", chosen)
        assert done.returncode == 1  # torchrun's own
        assert len(errors(done)) == 1
        assert errors(done)[0].startswith(sentence)
    assert not (tmp_path / "runs").exists()
