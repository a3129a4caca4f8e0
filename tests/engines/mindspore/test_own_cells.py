"""A user's own Cell: its names, its prints, its mistakes; and what this engine refuses."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.engines import Session, open_session
from luthier.errors import EngineError, ModelError
from luthier.recipe import Recipe, override
from luthier.testing import random_batches
from tests.cli.calling import luthier, process

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

NETS = """
import sys
import mindspore
import numpy as np
from mindspore import Tensor, mint, nn, ops

class Net(nn.Cell):
    def __init__(self, num_classes, width=4):
        super().__init__()
        conv = nn.Conv2d(3, width, 3, stride=2, has_bias=True)
        self.features = nn.SequentialCell(conv, nn.BatchNorm2d(width), nn.ReLU())
        self.drop = nn.Dropout(p=0.25)
        self.head = nn.Dense(width * 256, num_classes)

    def construct(self, x):
        return self.head(self.drop(self.features(x).flatten(start_dim=1)))

class Loud(Net):
    def construct(self, x):
        print("inside", x.shape)
        return super().construct(x)

class Wrong(Net):
    def construct(self, x):
        x = self.features(x)
        return self.head(x)

class Columns(Net):
    def construct(self, x):
        return ops.cat((super().construct(x), super().construct(x)), 1)

class Both(Net):
    def construct(self, x):
        return super().construct(x), x

class Exits(Net):
    def construct(self, x):
        sys.exit()

class WrongInTraining(Net):
    def construct(self, x):
        if self.training:
            return self.head(self.features(x))
        return super().construct(x)

class Names(Net):
    def __init__(self, num_classes):
        super().__init__(num_classes)
        one = Tensor(1.0, mindspore.float32)
        self.loss_scale = mindspore.Parameter(one, name="loss_scale")
        self.finite = mindspore.Parameter(one, name="gradients_are_finite")
        self.weight = mindspore.Parameter(one, name="weight")
        self.momentum = nn.SequentialCell(nn.BatchNorm2d(3))
        self.average = nn.Dense(1, 1)

    def construct(self, x):
        scale = self.loss_scale * self.finite * self.weight
        return super().construct(self.momentum(x)) * self.average(scale.reshape(1, 1))

def rolled(x):
    return mint.roll(x, 1, 0)

class NoKernel(Net):
    def construct(self, x):
        return super().construct(rolled(x))

class Sines(Net):
    def construct(self, x):
        return super().construct(np.sin(x))

class Opens(Net):
    def construct(self, x):
        with open("/dev/null") as file:
            file.read()
        return super().construct(x)

class Tries(Net):
    def construct(self, x):
        try:
            x = x + 1
        except ValueError:
            x = x - 1
        return super().construct(x)

class Doubles(Net):
    def construct(self, x):
        return super().construct(x.astype(mindspore.float64))

class NoGradient(Net):
    def construct(self, x):
        return self.head(ops.channel_shuffle(self.features(x), 2).flatten(start_dim=1))

def module(num_classes):
    import torch
    return torch.nn.Linear(3, num_classes)
"""
MODES = ("graph", "eager")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NETS)
    return path


def opened(own: Path, name: str, *settings: str) -> Session:
    made = override(Recipe(name="own"), ["engine=mindspore", "device=cpu", f"model.name={own}:{name}", *settings])
    return open_session(made, shape=(32, 32, 3), num_classes=10)


def step(session: Session) -> float:
    (batch,) = random_batches(1)
    return float(session.step(batch, 0.01))


class TestAnOwnCell:
    @pytest.mark.parametrize("mode", MODES)
    def test_trains_under_the_names_that_mindspore_gives(self, own: Path, mode: str) -> None:
        session = opened(own, "Net", f"mode={mode}", "model.options={width = 6}")
        assert [info.name for info in session.parameters] == [
            *("features.0.weight", "features.0.bias", "features.1.gamma", "features.1.beta"),
            *("head.weight", "head.bias"),
        ]
        kinds = {info.name: info.kind for info in session.parameters}
        assert kinds["features.1.gamma"] == kinds["features.1.beta"] == "norm"
        assert kinds["head.bias"] == "bias"
        before = session.state()
        assert np.isfinite(step(session))
        after = session.state()
        before.pop("model/features.0.bias")  # the normalisation behind it takes its gradient away
        assert all(not np.array_equal(before[key], after[key]) for key in before if key.startswith("model/"))

    @pytest.mark.parametrize("mode", MODES)
    def test_may_have_parameters_of_any_name(self, own: Path, mode: str) -> None:
        settings = ("strategy.average_decay=0.9", "strategy.optimizer.weight_decay=0.1")
        session = opened(own, "Names", f"mode={mode}", *settings)
        names = {info.name for info in session.parameters}
        assert {"loss_scale", "gradients_are_finite", "weight", "average.weight", "momentum.0.gamma"} <= names
        before = session.state()
        assert np.isfinite(step(session))
        after = session.state()
        assert not np.array_equal(before["model/loss_scale"], after["model/loss_scale"])
        session.close()

    @pytest.mark.parametrize(("mode", "prints"), [("eager", True), ("graph", False)])
    def test_a_print_in_construct_prints_in_eager_mode_with_its_values(
        self, own: Path, mode: str, prints: bool, capfd: pytest.CaptureFixture[str]
    ) -> None:
        step(opened(own, "Loud", f"mode={mode}"))
        assert ("inside (8, 3, 32, 32)" in capfd.readouterr().out) == prints

    @pytest.mark.parametrize("mode", MODES)
    def test_the_same_seed_draws_the_same_first_weights(self, own: Path, mode: str) -> None:
        one, other = (opened(own, "Net", f"mode={mode}").state() for _ in range(2))
        assert all(np.array_equal(one[key], other[key]) for key in one)
        third = opened(own, "Net", f"mode={mode}", "strategy.seed=2").state()
        assert not np.array_equal(one["model/head.weight"], third["model/head.weight"])


class TestMistakes:
    @pytest.mark.parametrize("mode", MODES)
    def test_a_construct_that_fails_is_told_with_the_users_line_first(self, own: Path, mode: str) -> None:
        with pytest.raises(ModelError) as caught:
            step(opened(own, "Wrong", f"mode={mode}"))
        fault = caught.value
        line = next(number for number, text in enumerate(NETS.splitlines(), 1) if "self.head(x)" in text)
        assert fault.at == f"{own}:{line}"
        assert "return self.head(x)" in fault.sentence
        assert "\n" not in fault.sentence
        assert "C++" not in str(fault)

    @pytest.mark.parametrize(
        ("name", "mode", "line", "told"),
        [
            ("NoKernel", "graph", "return mint.roll(x, 1, 0)", "Unsupported op [Roll] on CPU"),
            ("NoKernel", "eager", "return mint.roll(x, 1, 0)", "Roll unregistered"),
            ("Opens", "graph", 'with open("/dev/null") as file:', "a graph has no `with` but over a class of your own"),
            ("Tries", "graph", "try:", "Unsupported statement 'Try'"),
            ("Doubles", "eager", "return self.head(self.drop(", "Conv2D"),
        ],
    )
    def test_the_line_is_found_however_mindspore_tells_it(
        self, own: Path, name: str, mode: str, line: str, told: str
    ) -> None:
        with pytest.raises(ModelError) as caught:
            opened(own, name, f"mode={mode}")
        number = next(number for number, text in enumerate(NETS.splitlines(), 1) if line in text)
        assert caught.value.at == f"{own}:{number}"
        assert f":{name}: {line.rstrip(':')}" in caught.value.sentence
        assert told in caught.value.sentence

    def test_where_no_line_is_told_the_construct_is(self, own: Path) -> None:
        with pytest.raises(ModelError) as caught:
            opened(own, "Sines", "mode=graph")
        number = next(number for number, text in enumerate(NETS.splitlines(), 1) if text.startswith("class Sines"))
        assert caught.value.at == f"{own}:{number + 1}"
        assert "def construct(self, x)" in caught.value.sentence

    @pytest.mark.parametrize("mode", MODES)
    def test_outputs_that_are_not_one_a_class_are_named(self, own: Path, mode: str) -> None:
        count = 2 if mode == "eager" else 32
        with pytest.raises(ModelError, match=rf"gives \[{count}, 20\] for {count} images, expected \[{count}, 10\]"):
            opened(own, "Columns", f"mode={mode}")
        with pytest.raises(ModelError, match=rf"gives a tuple of 2 for {count} images"):
            opened(own, "Both", f"mode={mode}")

    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(("name", "told"), [("WrongInTraining", "self.head"), ("NoGradient", "bprop not defined")])
    def test_what_fails_in_training_alone_is_told_before_there_is_a_run(
        self, own: Path, mode: str, name: str, told: str
    ) -> None:
        with pytest.raises(ModelError, match=told):
            opened(own, name, f"mode={mode}")

    @pytest.mark.parametrize("mode", MODES)
    def test_a_trial_leaves_nothing_behind(self, own: Path, mode: str) -> None:
        session = opened(own, "Net", f"mode={mode}", "strategy.optimizer=adam", "strategy.average_decay=0.9")
        state = session.state()
        assert state["model/features.1.moving_mean"].tolist() == [0.0] * 4
        assert all(not state[key].any() for key in state if key.startswith("optimizer/moment"))
        assert state["optimizer/step/head.bias"] == state["optimizer/average_steps"] == 0
        assert session.probe(["gradient/head.bias"]) == {}
        session.close()

    def test_a_sys_exit_in_a_cell_is_told(self, own: Path) -> None:
        with pytest.raises(ModelError, match=r"cannot run .*:Exits: sys.exit\(\): SystemExit"):
            opened(own, "Exits", "mode=eager")

    def test_a_module_of_pytorch_is_refused_with_a_way_out(self, own: Path) -> None:
        with pytest.raises(ModelError, match=r"engine = .torch."):
            opened(own, "module")

    @pytest.mark.parametrize(
        ("settings", "told"),
        [
            (("strategy.precision=bfloat16",), "no bfloat16 convolutions on a CPU"),
            (("device=ascend:0",), "MindSpore sees no Ascend here"),
            (("device=cuda:0",), "MindSpore sees no GPU here"),
        ],
    )
    def test_what_a_cpu_lacks_is_refused_by_name(self, own: Path, settings: Any, told: str) -> None:
        with pytest.raises(EngineError, match=told) as caught:
            opened(own, "Net", *settings)
        assert caught.value.hint


def test_in_eager_mode_the_users_lines_alone_are_shown(own: Path, tmp_path: Path) -> None:
    settings = ("--set", "engine=mindspore", "--set", "mode=eager", "--set", f"model.name={own}:NoKernel")
    said = luthier("train", "lenet5-digits", *settings, "--out", tmp_path / "runs")
    assert said.code == 2
    frames = [line.strip() for line in said.err.splitlines() if line.strip().startswith("File ")]
    assert [frame.partition(", in ")[2] for frame in frames] == ["construct", "rolled"]
    assert all(str(own) in frame for frame in frames)
    assert "C++" not in said.err
    assert len(said.err.splitlines()) < 12


class TestMessages:
    def test_mindspore_s_warnings_stay_out_of_the_terminal_and_go_to_the_log(self, tmp_path: Path) -> None:
        settings = ("--set", "engine=mindspore", "--set", "strategy.steps=3")
        with process("train", "lenet5-digits", "--no-measure", "--out", tmp_path, *settings, cwd=tmp_path) as child:
            out, err = child.communicate(timeout=120)
        assert child.returncode == 0, err
        assert "[WARNING]" not in out + err
        [run] = tmp_path.iterdir()  # and nothing beside it, such as MindSpore's rank_0
        log = run / "log.txt"
        assert "started on mindspore, cpu" in log.read_text()
        assert "[WARNING] ME(" in log.read_text()

    def test_a_failing_compile_leaves_one_sentence_and_a_clean_folder(self, own: Path, tmp_path: Path) -> None:
        work = tmp_path / "work"
        work.mkdir()
        settings = ("--set", "engine=mindspore", "--set", "mode=graph", "--set", f"model.name={own}:Wrong")
        with process("train", "lenet5-digits", *settings, "--out", tmp_path, cwd=work) as child:
            _, err = child.communicate(timeout=120)
        assert child.returncode == 2
        assert err.count("error: MindSpore cannot run") == 1
        assert "framework developers" not in err
        assert list(work.iterdir()) == []


def test_nothing_of_mindspore_is_loaded_for_a_recipe_on_torch(tmp_path: Path) -> None:
    program = (
        "import sys, luthier; "
        f"luthier.train('lenet5-digits', overrides=['strategy.steps=2', 'engine=torch'], out={str(tmp_path)!r}); "
        "assert 'mindspore' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
