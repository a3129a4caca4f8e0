"""What a person gets from a proof: both lines, growth, evidence, sub-networks, and a sentence for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from mindspore import nn

from luthier.errors import PortError, ProofError
from luthier.proof import Verdict, parse_input, prove, verdict_schema, verdict_text
from luthier.weights import Entry, WeightMap
from tests.proof.conftest import Write

REFERENCE = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3), nn.GELU())
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        x = self.body(self.norm(self.conv(x)))
        return self.fc(x.mean((2, 3)))
"""
CANDIDATE = """
from mindspore import nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = nn.BatchNorm2d(4, momentum=0.9)
        self.body = nn.SequentialCell(nn.Conv2d(4, 4, 3, pad_mode="valid", has_bias=True), nn.GELU(approximate=False))
        self.fc = nn.Dense(4, 5)

    def construct(self, x):
        x = self.body(self.norm(self.conv(x)))
        return self.fc(x.mean((2, 3)))
"""
WRONG = CANDIDATE.replace("nn.GELU(approximate=False)", "nn.GELU()")


def pair(write: Write, candidate: str = CANDIDATE) -> tuple[str, str]:
    return f"{write('ref.py', REFERENCE)}:Net", f"{write('my.py', candidate)}:Net"


def test_the_first_layer_is_named_with_both_lines_its_cause_and_the_growth(write: Write) -> None:
    verdict = prove(*pair(write, WRONG), "4,3,8,8")
    first = verdict.first
    assert first is not None
    assert (first.rung, first.layer) == ("forward, evaluation", "body.1")
    assert first.reference is not None
    assert "nn.GELU()" in first.reference.text
    assert first.reference.at.endswith("ref.py:9")
    assert first.candidate is not None
    assert first.candidate.at.endswith("my.py:9")
    assert first.causes[0].trap == "gelu-form"
    assert first.causes[0].exact
    assert [point.layer for point in first.growth][:2] == ["conv", "norm"]
    assert first.growth[0].error < 1e-5 < first.growth[-1].error
    assert "Not proven: body.1 differs first" in verdict_text(verdict)


def test_evidence_is_left_with_digests_figures_and_the_command(write: Write, tmp_path: Path) -> None:
    verdict = prove(*pair(write), "4,3,8,8", output=tmp_path / "evidence", steps=2)
    assert verdict.proven
    files = {path.name for path in (tmp_path / "evidence").iterdir()}
    assert {"verdict.json", "checklist.md", "golden-step.npz", "04-forward-evaluation.json"} <= files
    rung = json.loads((tmp_path / "evidence" / "04-forward-evaluation.json").read_text())
    assert rung["command"].startswith("luthier prove --reference ")
    assert len(rung["rung"]["figures"]["layers"]["conv"]["sha256"][0][0]) == 64
    assert msgspec.json.decode((tmp_path / "evidence" / "verdict.json").read_bytes(), type=Verdict) == verdict
    steps = {step.number: step for step in verdict.checklist}
    assert sorted(steps) == list(range(1, 15))
    assert steps[3].status == "done"
    assert steps[10].status == "not applicable"
    assert all(step.reason for step in steps.values())


def test_a_failed_rung_fails_its_steps_of_the_checklist(write: Write) -> None:
    verdict = prove(*pair(write, WRONG), "4,3,8,8")
    statuses = {step.number: step.status for step in verdict.checklist}
    assert statuses[12] == statuses[6] == "failed"


def test_a_sub_network_is_a_case_of_its_own(write: Write) -> None:
    verdict = prove(*pair(write, WRONG), "4,3,8,8", each="body")
    assert verdict.first is not None
    assert verdict.first.layer == "1"
    sound = prove(*pair(write, WRONG), "4,3,8,8", each="norm", steps=1)
    assert sound.proven


def test_layers_of_other_names_are_paired_by_the_weights(write: Write) -> None:
    renamed = CANDIDATE.replace("self.conv", "self.first").replace("self.fc", "self.last")
    reference, candidate = pair(write, renamed.replace("momentum=0.9", "momentum=0.1"))
    names = {"conv": "first", "fc": "last", "norm": "norm", "body.0": "body.0"}
    leaves = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}
    scope: dict[str, Any] = {}
    exec(REFERENCE, scope)
    module = scope["Net"]()
    entries = []
    for name in module.state_dict():
        path, _, leaf = name.rpartition(".")
        if leaf != "num_batches_tracked":
            entries.append(Entry(source=name, target=f"{names[path]}.{leaves[leaf] if path == 'norm' else leaf}"))
    verdict = prove(reference, candidate, "4,3,8,8", map=WeightMap(entries=tuple(entries)))
    assert verdict.first is not None
    assert (verdict.first.rung, verdict.first.layer) == ("forward, training", "norm")
    assert verdict.first.causes[0].trap == "momentum"
    compared = verdict.rung("forward, evaluation").figures["layers"]
    assert {"conv", "fc"} <= set(compared)


def test_the_candidate_is_given_back_as_it_was() -> None:
    cell = nn.SequentialCell(nn.Dense(3, 4), nn.Dropout(p=0.3), nn.Dense(4, 2))
    before = {p.name: p.asnumpy().copy() for p in cell.get_parameters()}
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.3), torch.nn.Linear(4, 2))
    verdict = prove(module, cell, [np.ones((5, 3), np.float32)], steps=1)
    assert verdict.proven
    assert any("Dropout is off" in note for note in verdict.notes)
    assert all(np.array_equal(before[p.name], p.asnumpy()) for p in cell.get_parameters())
    assert (cell[1].p, cell[1].keep_prob) == (0.3, 0.5)


def test_a_candidate_that_cannot_run_is_named_with_its_line(write: Write) -> None:
    broken = CANDIDATE.replace("x.mean((2, 3))", "x.mean((2, 3)).nothing")
    verdict = prove(*pair(write, broken), "4,3,8,8")
    assert verdict.first is not None
    assert "cannot run" in verdict.first.sentence
    assert verdict.first.candidate is not None
    assert verdict.first.candidate.at.endswith("my.py:14")


def test_missing_and_extra_names_are_all_listed_with_the_nearest(write: Write) -> None:
    other = CANDIDATE.replace("self.fc", "self.fcs").replace("has_bias=True)\n", "has_bias=False)\n", 1)
    verdict = prove(*pair(write, other), "4,3,8,8")
    assert [item.what for item in verdict.rung("structure").differences] == [
        "conv.bias", "fc.weight", "fc.bias", "fcs.bias", "fcs.weight",
    ]  # fmt: skip
    assert "nearest name there is 'fcs.weight'" in verdict.rung("structure").differences[1].sentence


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "name"),
    [
        ("1,3,8,8", (1, 3, 8, 8), "float32", ""),
        ("ids:?,16:int64", ("?", 16), "int64", "ids"),
        ("7:float16", (7,), "float16", ""),
    ],
)
def test_an_input_says_its_name_shape_and_dtype(text: str, shape: tuple[object, ...], dtype: str, name: str) -> None:
    spec = parse_input(text)
    assert (spec.shape, spec.dtype, spec.name, spec.text) == (shape, dtype, name, text)


@pytest.mark.parametrize("text", ["", "1,x", "0,3", "a b:1", "x:1,2:float31", "1,,2"])
def test_an_input_that_is_none_says_what_one_looks_like(text: str) -> None:
    with pytest.raises(ProofError, match=r"Expected \[name:\]shape\[:dtype\], got .* - at --input"):
        parse_input(text)


def test_inputs_of_the_wrong_shape_are_the_user_s(write: Write) -> None:
    with pytest.raises(ProofError, match=r"cannot run on inputs of the shapes \[4, 2, 8, 8\]: RuntimeError"):
        prove(*pair(write), "4,2,8,8")


def test_a_sub_network_becomes_a_test_that_can_be_kept(write: Write, tmp_path: Path) -> None:
    prove(*pair(write, WRONG), "4,3,8,8", each="body", output=tmp_path / "body", steps=0)
    prove(*pair(write, WRONG), "4,3,8,8", each="norm", output=tmp_path / "norm", steps=0)
    for layer, fails in (("body", True), ("norm", False)):
        text = (tmp_path / layer / f"test_{layer}.py").read_text("utf-8")
        found: dict[str, Any] = {}
        exec(compile(text, layer, "exec"), found)
        if fails:
            with pytest.raises(AssertionError, match="tanh approximation"):
                found["test_body"]()
        else:
            found["test_norm"]()


def test_a_recipe_gives_data_loss_optimizer_schedule_and_metric(write: Write) -> None:
    reference = write("ref.py", DIGITS.format(framework="torch", base="Module", forward="forward", dense="Linear"))
    body = DIGITS.format(framework="mindspore", base="Cell", forward="construct", dense="Dense")
    overrides = ["data.eval_limit=64", "strategy.optimizer={name='adamw',weight_decay=0.1}", "strategy.epochs=1"]
    verdict = prove(
        f"{reference}:Net", f"{write('my.py', body)}:Net", recipe="lenet5-digits", overrides=overrides, steps=3
    )
    assert verdict.proven, verdict_text(verdict)
    passed = {rung.name for rung in verdict.rungs if rung.status == "passed"}
    assert {"loss", "optimizer steps", "further steps", "metric"} <= passed
    assert verdict.rung("metric").figures["images"] == 64
    optimizers = list(verdict.rung("optimizer steps").figures)
    assert len(optimizers) == 1, optimizers
    assert "adamw" in optimizers[0].lower()


DIGITS = """
from {framework} import nn

class Net(nn.{base}):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.first = nn.{dense}(1024, 16)
        self.act = nn.ReLU()
        self.last = nn.{dense}(16, 10)

    def {forward}(self, x):
        return self.last(self.act(self.first(self.flatten(x))))
"""


def test_mistakes_have_one_sentence_each(write: Write, tmp_path: Path) -> None:
    reference, candidate = pair(write)
    with pytest.raises(ProofError, match="No inputs to run the networks on"):
        prove(reference, candidate)
    with pytest.raises(ProofError, match="Unknown layer 'bodi' - at --each\n  Perhaps you meant 'body'"):
        prove(reference, candidate, "4,3,8,8", each="bodi")
    with pytest.raises(ProofError, match=r"No 'Nte' in .*ref\.py - at --reference\n  Perhaps you meant 'Net'"):
        prove(reference.replace(":Net", ":Nte"), candidate, "4,3,8,8")
    with pytest.raises(ProofError, match=r"Expected a mindspore\.nn\.Cell, got a Net - at --candidate"):
        prove(reference, reference, "4,3,8,8")
    with pytest.raises(PortError, match=r"it has no port\.json"):
        prove(tmp_path)
    with pytest.raises(ProofError, match="Expected a folder that a port wrote"):
        prove("nowhere")
    with pytest.raises(ProofError, match="Expected a trainer with any of batches"):
        prove(reference, candidate, "4,3,8,8", reference_trainer=3)


def test_the_schema_covers_every_verdict(write: Write) -> None:
    assert verdict_schema()["$defs"]["Verdict"]["required"]


@pytest.mark.parametrize(("candidate", "code"), [(CANDIDATE, 0), (WRONG, 1)])
def test_the_command_exits_0_where_it_is_proven_and_1_where_not(write: Write, candidate: str, code: int) -> None:
    reference, own = pair(write, candidate)
    start = "from luthier.cli import main; main()"
    arguments = ["prove", "--reference", reference, "--candidate", own, "--input", "4,3,8,8", "--steps", "1", "--json"]
    done = subprocess.run([sys.executable, "-c", start, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert msgspec.json.decode(done.stdout, type=Verdict).proven == (code == 0)
    assert done.stderr == ""
