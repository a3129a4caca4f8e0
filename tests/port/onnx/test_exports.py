"""Networks that PyTorch exported: the port of the file computes what the file does, and reads as the source did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from luthier.port import Ported, port
from luthier.proof import prove
from tests.port.onnx.nets import CASES, export

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Ported]:
    folder = tmp_path_factory.mktemp("exports")
    return {name: port(export(name, folder / f"{name}.onnx"), output=folder / name) for name in CASES}


def text(done: Ported) -> str:
    return (done.folder / "model.py").read_text("utf-8")


def given(done: Ported, batch: int) -> NDArray[Any]:
    item = done.manifest.inputs[0]
    shape = [batch if length == "?" else int(length) for length in item.shape]
    draw = np.random.default_rng(0)
    return draw.integers(0, 50, shape) if item.dtype == "int64" else draw.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("mode", ["eager", pytest.param("graph", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize("name", CASES)
def test_the_port_computes_what_onnx_runtime_does(name: str, ports: Mapping[str, Ported], mode: str) -> None:
    import mindspore

    done = ports[name]
    assert done.report.complete
    inputs = given(done, 3)
    session = onnxruntime.InferenceSession(done.manifest.source.spec, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": inputs})[0]
    assert done.cell is not None
    np.testing.assert_allclose(done.cell(mindspore.Tensor(inputs)).asnumpy(), expected, rtol=1e-4, atol=1e-5)


class TestWhatIsWritten:
    def test_the_layers_are_those_of_the_source(self, ports: Mapping[str, Ported]) -> None:
        golden = (GOLDEN / "lenet5.py").read_text("utf-8").splitlines()
        wanted = [line for line in golden if "self." in line and " = nn." in line]
        assert [line for line in text(ports["lenet5"]).splitlines() if " = nn." in line] == wanted

    def test_blocks_that_repeat_are_one_class_in_a_loop(self, ports: Mapping[str, Ported]) -> None:
        written = text(ports["encoder"])
        assert "self.layers = nn.CellList([Layer() for _ in range(2)])" in written
        assert "        for layer in self.layers:\n            x = layer(x)\n        return x\n" in written

    def test_a_product_and_a_sum_are_a_dense_layer(self, ports: Mapping[str, Ported]) -> None:
        assert "self.linear1 = nn.Dense(16, 32)" in text(ports["encoder"])

    def test_recurrent_layers_are_layers(self, ports: Mapping[str, Ported]) -> None:
        written = text(ports["recurrent"])
        assert "nn.LSTM(8, 12, bidirectional=True)" in written
        assert "nn.GRU(24, 6)" in written

    def test_the_batch_stays_open(self, ports: Mapping[str, Ported]) -> None:
        assert ".reshape(10, -1, 16)" in text(ports["encoder"])

    def test_a_parameter_keeps_the_source_s_name(self, ports: Mapping[str, Ported]) -> None:
        assert "self.pos = Parameter(ops.zeros((1, 10, 16)))" in text(ports["encoder"])

    def test_a_folded_normalisation_is_told(self, ports: Mapping[str, Ported]) -> None:
        told = {feature.name: feature.told for feature in ports["resnet18"].report.features}
        assert "TrainingMode.PRESERVE" in told["batch normalisation"]


class TestTraining:
    def test_what_was_kept_acts_in_training(self, tmp_path: Path) -> None:
        import torch

        options = {"training": torch.onnx.TrainingMode.TRAINING, "do_constant_folding": False}
        done = port(export("unet", tmp_path / "unet.onnx", **options), output=tmp_path / "ported")
        assert "nn.Dropout(p=0.2)" in text(done)

    @pytest.mark.slow
    def test_normalisations_are_layers_with_their_momentum(self, tmp_path: Path) -> None:
        import torch

        options = {"training": torch.onnx.TrainingMode.TRAINING, "do_constant_folding": False}
        done = port(export("resnet18", tmp_path / "resnet18.onnx", **options), output=tmp_path / "ported")
        assert "self.bn1 = nn.BatchNorm2d(64)" in text(done)
        assert prove(done.folder).proven


class TestProof:
    @pytest.mark.parametrize("name", ["lenet5", "encoder", "recurrent", "unet"])
    def test_every_layer_agrees(self, name: str, ports: Mapping[str, Ported]) -> None:
        verdict = prove(ports[name].folder)
        assert verdict.proven
        by_name = {rung.name: rung for rung in verdict.rungs}
        assert by_name["forward, evaluation"].status == "passed"
        assert by_name["gradients"].status == "not applicable"
        assert "an ONNX file runs forward alone" in by_name["gradients"].sentence

    def test_a_weight_that_is_off_is_found_by_name(self, ports: Mapping[str, Ported], tmp_path: Path) -> None:
        import shutil

        from luthier.weights import read_weights

        folder = tmp_path / "wrong"
        shutil.copytree(ports["lenet5"].folder, folder)
        from safetensors.numpy import save_file

        arrays = {name: np.array(array) for name, array in read_weights(folder / "weights.safetensors").items()}
        arrays["fc2.weight"][3, 4] += 0.01
        save_file(arrays, folder / "weights.safetensors")
        verdict = prove(folder)
        assert not verdict.proven
        assert verdict.first is not None
        assert verdict.first.layer == "fc2"

    def test_a_wrong_line_is_found_by_its_layer(self, ports: Mapping[str, Ported], tmp_path: Path) -> None:
        import shutil

        folder = tmp_path / "wrong"
        shutil.copytree(ports["unet"].folder, folder)
        written = (folder / "model.py").read_text("utf-8")
        assert "nn.GroupNorm(2," in written
        (folder / "model.py").write_text(written.replace("nn.GroupNorm(2,", "nn.GroupNorm(4,"), "utf-8")
        verdict = prove(folder)
        assert verdict.first is not None
        assert verdict.first.layer == "first.norm"


def nameless(path: Path, target: Path) -> Path:
    """The same file without a name that tells of modules."""
    import onnx

    model = onnx.load(path)
    names = {tensor.name: f"w{i}" for i, tensor in enumerate(model.graph.initializer)}
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    for node in model.graph.node:
        node.name = ""
        for i, name in enumerate(node.input):
            node.input[i] = names.get(name, name)
    onnx.save(model, target)
    return target


class TestFilesWithoutNames:
    def test_what_stands_several_times_is_one_class_in_a_loop(
        self, ports: Mapping[str, Ported], tmp_path: Path
    ) -> None:
        import mindspore

        source = Path(ports["encoder"].manifest.source.spec)
        done = port(nameless(source, tmp_path / "plain.onnx"), output=tmp_path / "ported")
        written = text(done)
        assert "self.blocks = nn.CellList([Block() for _ in range(2)])" in written
        assert "class Block2" not in written
        inputs = mindspore.Tensor(given(done, 3))
        assert done.cell is not None
        assert ports["encoder"].cell is not None
        np.testing.assert_allclose(done.cell(inputs).asnumpy(), ports["encoder"].cell(inputs).asnumpy(), atol=1e-6)
        assert prove(done.folder).proven
