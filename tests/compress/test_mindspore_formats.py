"""Runs of both engines in every format; each file is loaded as its users load it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from luthier.compress import encoder, export, open_network
from luthier.errors import ExportError, ModelError
from luthier.recipe import Recipe
from luthier.store import Run
from luthier.training import train
from tests.compress.making import digits
from tests.compress.test_onnx import NETS, some_digits

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

BATCH = "model.options={normalisation = 'batch', dropout = 0.1}"
SHORT = ("strategy.steps=3", "record.histograms=false", "record.images=0")
CELLS = """
from mindspore import Tensor, nn, ops

class Net(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=4)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p=0.3)
        self.head = nn.Dense(4 * 64, num_classes)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        return self.head(self.drop(x.reshape(x.shape[0], -1)))

class Unusual(Net):
    def construct(self, x):
        return ops.erfinv(ops.tanh(super().construct(x)) * 0.9)

class Pair(Net):
    def construct(self, x):
        return super().construct(x), x
"""


@pytest.fixture(scope="module", params=["torch", "mindspore"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three steps on either engine, with BatchNorm and dropout."""
    engine = request.param
    mode = "graph" if engine == "mindspore" else "eager"
    settings = (BATCH, *SHORT, f"engine={engine}", f"mode={mode}", "device=cpu", "strategy.learning_rate=0.1")
    return train(digits(*settings), out=tmp_path_factory.mktemp(engine))


def answers(run: Run | Recipe, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    with open_network(run) as network:
        return network.session.logits(pixels)


def normalised(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    images = (pixels.transpose(0, 3, 1, 2) / 255 - 0.3058) / 0.3761
    return np.asarray(images, np.float32)


def in_graph(path: Path, images: NDArray[Any]) -> NDArray[np.float32]:
    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    outputs: NDArray[np.float32] = mindspore.nn.GraphCell(mindspore.load(str(path)))(mindspore.Tensor(images)).asnumpy()
    return outputs


class TestMindIR:
    @pytest.mark.parametrize("pixels", [False, True])
    def test_a_batch_of_any_size_is_answered_as_the_run_answers_it(
        self, run: Run, tmp_path: Path, pixels: bool
    ) -> None:
        result = export(run, output=tmp_path / "net.mindir", format="mindir", pixels=pixels)
        assert result.max_error is not None
        for count in (1, 5):
            given = some_digits(count)
            outputs = in_graph(tmp_path / "net.mindir", given if pixels else normalised(given))
            np.testing.assert_allclose(outputs, answers(run, given), atol=1e-5)

    def test_a_resnet_s_too_with_its_padded_pooling(self, tmp_path: Path) -> None:
        recipe = digits("model.name=resnet18", "model.options={width = 0.0625}", "engine=mindspore", "mode=eager")
        result = export(recipe, output=tmp_path / "net.mindir", format="mindir")
        assert result.max_error is not None
        assert result.max_error < 1e-5

    def test_it_says_how_to_feed_it(self, run: Run, tmp_path: Path) -> None:
        from mindspore.train import mind_ir_pb2

        export(run, output=tmp_path / "net.mindir", format="mindir")
        model = mind_ir_pb2.ModelProto()
        model.ParseFromString((tmp_path / "net.mindir").read_bytes())
        assert json.loads(model.user_info["classes"])[9] == "9"
        assert json.loads(model.user_info["mean"]) == [0.3058]
        assert (model.user_info["layout"], model.user_info["step"]) == ("NCHW", "3")


class TestCkpt:
    def test_it_has_mindspore_s_names_and_the_run_s_weights_and_starts_a_run(self, run: Run, tmp_path: Path) -> None:
        import mindspore

        place = tmp_path / "net.ckpt"
        result = export(run, output=place, format="ckpt")
        assert result.max_error is not None
        found = mindspore.load_checkpoint(str(place))
        with open_network(run) as network:
            own = network.session.state()
        assert {"norm1.gamma", "norm1.moving_variance", "fc3.bias"} < set(found)
        assert not any(name.endswith("key") for name in found)
        assert np.array_equal(found["norm1.moving_variance"].asnumpy(), own["model/norm1.running_var"])
        again = train(digits(BATCH, *SHORT, "engine=torch"), start=place, out=tmp_path)
        assert again.recipe.start.path == str(place)


class TestBothEnginesFiles:
    def test_safetensors_have_pytorch_s_names_whichever_engine_trained(self, run: Run, tmp_path: Path) -> None:
        export(run, output=tmp_path / "net.safetensors", format="safetensors")
        found = load_file(tmp_path / "net.safetensors")
        with open_network(run) as network:
            own = network.session.state()
        assert {f"model/{name}" for name in found} == {key for key in own if key.startswith("model/")}
        assert all(np.array_equal(found[name], own[f"model/{name}"]) for name in found)
        assert "norm1.running_var" in found

    def test_a_mindspore_run_s_onnx_is_as_good_as_a_torch_run_s(self, run: Run, tmp_path: Path) -> None:
        result = export(run, output=tmp_path / "net.onnx")
        assert result.opset == 17
        session = onnxruntime.InferenceSession(result.path)
        given = some_digits(5)
        np.testing.assert_allclose(session.run(None, {"images": normalised(given)})[0], answers(run, given), atol=1e-5)
        assert session.get_inputs()[0].shape == ["batch", 1, 32, 32]

    def test_a_crossing_that_went_wrong_is_found(self, run: Run) -> None:
        """A network that the other engine has with one number changed: whatever is written from it is refused."""
        other = {"torch": "mindspore", "mindspore": "torch"}[run.recipe.engine]
        with open_network(run) as network:
            state = {k: v for k, v in network.on(other).state().items() if k.startswith("model/")}
            state["model/norm1.running_var"] = state["model/norm1.running_var"] * 1.01
            network.on(other).load(state)
            with pytest.raises(ExportError, match="answers otherwise than the network"):
                encoder("mindir" if other == "mindspore" else "onnx")(network, pixels=False)


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    path = tmp_path / "cells.py"
    path.write_text(CELLS)
    return path


def own(cells: Path, name: str, *settings: str) -> Recipe:
    return digits(f"model.name={cells}:{name}", "engine=mindspore", "mode=graph", "device=cpu", *settings)


class TestAnOwnCell:
    @pytest.mark.parametrize("pixels", [False, True])
    def test_mindspore_writes_its_onnx_and_it_takes_a_batch_of_any_size(
        self, cells: Path, tmp_path: Path, pixels: bool
    ) -> None:
        result = export(own(cells, "Net"), output=tmp_path / "net.onnx", pixels=pixels)
        assert result.opset == 11
        session = onnxruntime.InferenceSession(result.path)
        assert [value.name for value in (*session.get_inputs(), *session.get_outputs())] == ["images", "logits"]
        assert session.get_inputs()[0].shape[0] == session.get_outputs()[0].shape[0] == "batch"
        assert json.loads(session.get_modelmeta().custom_metadata_map["classes"])[9] == "9"
        for count in (1, 4):
            given = some_digits(count)
            (outputs,) = session.run(None, {"images": given if pixels else normalised(given)})
            np.testing.assert_allclose(outputs, answers(own(cells, "Net"), given), atol=1e-4)

    def test_its_weights_keep_mindspore_s_names(self, cells: Path, tmp_path: Path) -> None:
        export(own(cells, "Net"), output=tmp_path / "net.safetensors", format="safetensors")
        assert {"norm.gamma", "norm.moving_mean", "head.weight"} < set(load_file(tmp_path / "net.safetensors"))
        export(own(cells, "Net"), output=tmp_path / "net.ckpt", format="ckpt")
        export(own(cells, "Net"), output=tmp_path / "net.mindir", format="mindir")

    @pytest.mark.parametrize(
        ("name", "form", "told"),
        [
            ("Unusual", "onnx", "MindSpore cannot write the network as ONNX"),
            ("Pair", "mindir", "gives a tuple"),
        ],
    )
    def test_what_cannot_be_written_is_one_sentence_and_no_file(
        self, cells: Path, tmp_path: Path, name: str, form: str, told: str
    ) -> None:
        with pytest.raises((ExportError, ModelError), match=told) as caught:
            export(own(cells, name), output=tmp_path / "out" / "net", format=form)
        assert "\n" not in str(caught.value).partition("\n  ")[0]
        assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("form", ["mindir", "ckpt"])
def test_a_module_of_the_user_s_own_has_no_cell(tmp_path: Path, form: str) -> None:
    with pytest.raises(ExportError, match="is written for PyTorch, and for this it would have to run on MindSpore"):
        export(digits(f"model.name={NETS}:Tied"), output=tmp_path / "net", format=form)
