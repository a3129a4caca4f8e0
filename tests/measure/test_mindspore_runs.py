"""Every verb on a run of MindSpore, of a shipped network and of the user's own Cell."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from luthier.compress import open_network
from luthier.errors import ExportError, MeasureError
from luthier.measure import Subject, evaluate_run, measure, predict
from luthier.measure.registry import runtime
from luthier.store import Run, compare
from luthier.training import train
from tests.cli.calling import luthier
from tests.compress.making import digits

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

MINDSPORE = ("engine=mindspore", "mode=graph", "device=cpu")
SHORT = ("strategy.steps=4", "record.histograms=false", "record.images=0", "data.eval_limit=64", "score.runs=3")
BATCH = "model.options={normalisation = 'batch', dropout = 0.1}"
CELL = """
from mindspore import nn, ops

class Net(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=4)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p=0.3)
        self.head = nn.Dense(4 * 64, num_classes)
        self.head.bias.requires_grad = False

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        return self.head(self.drop(x.reshape(x.shape[0], -1)))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(digits(BATCH, *MINDSPORE, *SHORT), out=tmp_path_factory.mktemp("mindspore"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("own")
    (folder / "net.py").write_text(CELL)
    return train(digits(f"model.name={folder / 'net.py'}:Net", *MINDSPORE, *SHORT), out=folder / "runs")


class TestMeasure:
    def test_a_run_has_every_figure_of_a_torch_run(self, run: Run, tmp_path: Path) -> None:
        torch = measure(train(digits(BATCH, "engine=torch", *SHORT), out=tmp_path))
        row = measure(run)
        assert row.latency is not None
        assert (row.latency.runtime, row.latency.threads) == ("onnxruntime", 1)
        assert (row.parameters, row.size_mb, row.sizes) == (
            torch.parameters,
            torch.size_mb,
            _without_counters(torch.sizes),
        )
        assert [layer.trainable for layer in row.layers] == [layer.trainable for layer in torch.layers]
        assert row.file_mb == pytest.approx(torch.file_mb, rel=1e-2)
        result = run.result()
        assert result is not None
        assert (result.engine, result.score) == ("mindspore", row.score)

    def test_an_own_cell_s_frozen_parameters_and_statistics_count_apart(self, own: Run) -> None:
        row = measure(own)
        assert row.parameters == 4 * 9 + 4 + 4 + 10 * 256
        assert row.sizes.frozen == {"float32": 40}
        assert row.sizes.buffers == {"float32": 32}
        assert row.score is not None
        assert row.file_mb is not None

    def test_a_recipe_that_was_not_trained(self) -> None:
        row = measure(digits(*MINDSPORE, "score.runs=3"))
        assert (row.parameters, row.accuracy, row.score) == (61_684, None, None)
        assert row.latency_ms is not None

    def test_pytorch_times_the_shipped_network_and_refuses_the_user_s_own(self, run: Run, own: Run) -> None:
        assert measure(run, overrides=["score.runtime=torch-eager"]).latency_ms is not None
        with pytest.raises(ExportError, match="is written for MindSpore, and for this it would have to run on PyTorch"):
            measure(own, overrides=["score.runtime=torch-eager"])


def _without_counters(sizes: object) -> object:
    """MindSpore's BatchNorm counts no batches."""
    from msgspec.structs import replace

    return replace(sizes, buffers={k: v for k, v in sizes.buffers.items() if k != "int64"})  # type: ignore[attr-defined,type-var]


class TestMindSporeAsRuntime:
    def test_it_runs_the_mindir_of_a_torch_network_and_answers_as_it(self) -> None:
        images = np.random.default_rng(0).standard_normal((1, 1, 32, 32), np.float32)
        with open_network(digits(BATCH, "engine=torch")) as network:
            expected = network.module(_tensor(images)).detach().numpy()
            with runtime("mindspore")(Subject(network=network), images, threads=1) as prepared:
                np.testing.assert_allclose(np.asarray(prepared.infer()), expected, atol=1e-5)

    def test_a_mindspore_run_is_timed_by_the_same_protocol(self, run: Run) -> None:
        row = measure(run, overrides=["score.runtime=mindspore", "score.runs=7", "score.warmup=0"])
        assert row.latency is not None
        assert row.timings is not None
        assert (row.latency.runtime, row.latency.threads, row.latency.device, row.timings.n) == (
            "mindspore",
            1,
            "cpu",
            7,
        )

    def test_what_its_process_says_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONPATH", "")
        monkeypatch.setattr("sys.executable", "/bin/false")
        images = np.zeros((1, 1, 32, 32), np.float32)
        with (
            open_network(digits(*MINDSPORE)) as network,
            runtime("mindspore")(Subject(network=network), images, threads=1) as prepared,
            pytest.raises(MeasureError, match="MindSpore's own process could not run the network"),
        ):
            prepared.infer()


def _tensor(images: NDArray[np.float32]) -> object:
    import torch

    return torch.from_numpy(images)


class TestOtherVerbs:
    @pytest.mark.parametrize("which", ["run", "own"])
    def test_evaluate_and_predict(self, which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        trained: Run = request.getfixturevalue(which)
        result = trained.result()
        assert result is not None
        assert evaluate_run(trained).accuracy == result.accuracy
        assert evaluate_run(trained, split="train").samples == 1437
        Image.new("L", (20, 20), 90).save(tmp_path / "grey.png")
        (prediction,) = predict(trained, [tmp_path / "grey.png"], top=3)
        assert len(prediction.labels) == 3

    def test_runs_of_both_engines_side_by_side(self, run: Run, tmp_path: Path) -> None:
        torch = train(digits(BATCH, "engine=torch", *SHORT), out=tmp_path)
        comparison = compare([run, torch])
        assert comparison.recipe["engine"] == ["mindspore", "torch"]
        assert comparison.result["engine"] == ["mindspore", "torch"]
        assert "parameters" not in comparison.result  # as many in both

    def test_the_commands(self, run: Run, tmp_path: Path) -> None:
        said = luthier("measure", run.path, "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)[0]["parameters"] == 61_684 + 2 * (6 + 16)
        assert luthier("evaluate", run.path).code == 0
        said = luthier("export", run.path, "--format", "ckpt", "-o", tmp_path / "net.ckpt")
        assert "net.ckpt: ckpt, 0.2" in said.out
        assert "from the network's outputs" in said.out
