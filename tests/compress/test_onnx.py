from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray

from luthier.compress import Exported, export, exported_text, open_network
from luthier.compress.checking import answers_of, max_error, on_onnx_runtime
from luthier.errors import ExportError, ModelError
from luthier.recipe import Recipe
from tests.compress.making import digits, make_run

NETS = Path(__file__).with_name("nets.py")


def own(name: str, *overrides: str) -> Recipe:
    return digits(f"model.name={NETS}:{name}", *overrides)


def exported(recipe: Recipe, folder: Path, *, pixels: bool = False) -> tuple[Exported, onnxruntime.InferenceSession]:
    result = export(recipe, output=folder / "model.onnx", pixels=pixels)
    return result, onnxruntime.InferenceSession(result.path)


def some_digits(count: int) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (count, 32, 32, 1), np.uint8)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_graph_answers_normalised_images_as_the_session_answers_pixels(tmp_path: Path, count: int) -> None:
    recipe = digits()
    pixels = some_digits(count)
    with open_network(recipe) as network:
        expected = network.session.logits(pixels)
    mean, std = recipe.data.normalize.mean[0], recipe.data.normalize.std[0]
    images = ((pixels.transpose(0, 3, 1, 2) / 255 - mean) / std).astype(np.float32)
    result, session = exported(recipe, tmp_path)
    np.testing.assert_allclose(session.run(None, {"images": images})[0], expected, atol=1e-5)
    assert result.max_error is not None
    assert 0 <= result.max_error < 1e-6
    assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [
        ("images", "tensor(float)", ["batch", 1, 32, 32])
    ]
    assert [(o.name, o.shape) for o in session.get_outputs()] == [("logits", ["batch", 10])]


@pytest.mark.parametrize("count", [1, 5])
def test_with_pixels_the_graph_takes_bytes_and_normalises_by_itself(tmp_path: Path, count: int) -> None:
    pixels = some_digits(count)
    with open_network(digits()) as network:
        expected = network.session.logits(pixels)
    _, session = exported(digits(), tmp_path, pixels=True)
    assert [(i.type, i.shape) for i in session.get_inputs()] == [("tensor(uint8)", ["batch", 32, 32, 1])]
    np.testing.assert_allclose(session.run(None, {"images": pixels})[0], expected, atol=1e-5)


@pytest.mark.parametrize("pixels", [False, True])
def test_the_file_says_how_to_feed_it_and_how_to_read_its_answers(tmp_path: Path, pixels: bool) -> None:
    _, session = exported(digits(), tmp_path, pixels=pixels)
    told = session.get_modelmeta().custom_metadata_map
    assert json.loads(told["classes"]) == [str(number) for number in range(10)]
    assert json.loads(told["mean"]) == [0.3058]
    assert json.loads(told["std"]) == [0.3761]
    assert told["layout"] == ("NHWC" if pixels else "NCHW")
    assert told["name"] == "lenet5-digits"
    assert "step" not in told


def test_a_network_with_batch_normalisation_is_exported_in_evaluation_mode(tmp_path: Path) -> None:
    result, _ = exported(digits("model.name=slim"), tmp_path)
    kinds = {node.op_type for node in onnx.load(result.path).graph.node}
    assert "Dropout" not in kinds
    assert result.max_error is not None
    assert result.max_error < 1e-5


def test_a_runs_checkpoint_is_what_is_exported_and_the_file_names_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    for which, step in (("last", 120), ("best", 80), (40, 40)):
        result = export(run, output=tmp_path / "model.onnx", checkpoint=which)
        session = onnxruntime.InferenceSession(result.path)
        logits = session.run(None, {"images": np.zeros((1, 1, 32, 32), np.float32)})[0]
        assert abs(float(logits.mean()) - step) < 3
        assert session.get_modelmeta().custom_metadata_map["step"] == str(step)


def test_where_it_was_trained_leaves_no_trace_in_the_graph(tmp_path: Path) -> None:
    first = export(digits(), output=tmp_path / "a.onnx")
    again = export(digits(), output=tmp_path / "b.onnx")
    assert Path(first.path).read_bytes() == Path(again.path).read_bytes()
    weights = {item.name: item.dims for item in onnx.load(first.path).graph.initializer}
    assert list(weights["conv2.weight"]) == [16, 6, 5, 5]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths:UserWarning")
@pytest.mark.parametrize(("kernel", "dilation"), [(3, 2), (4, 3), (4, 1)])
def test_padding_to_the_same_size_is_written_out_since_runtimes_refuse_it_dilated(
    tmp_path: Path, kernel: int, dilation: int
) -> None:
    result, _ = exported(own("Dilated", f"model.options={{kernel = {kernel}, dilation = {dilation}}}"), tmp_path)
    assert result.max_error is not None
    assert result.max_error < 1e-5
    convolution = next(node for node in onnx.load(result.path).graph.node if node.op_type == "Conv")
    assert "auto_pad" not in {attribute.name for attribute in convolution.attribute}


@pytest.mark.filterwarnings("ignore:ONNX Preprocess - Removing mutation:UserWarning")
@pytest.mark.parametrize("name", ["InPlace", "Float32Only", "Tied"])
def test_a_network_with_habits_is_exported(tmp_path: Path, name: str) -> None:
    result, _ = exported(own(name), tmp_path)
    assert result.max_error is not None
    assert result.max_error < 1e-4


def test_nothing_is_printed_on_the_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    export(digits(), output=tmp_path / "model.onnx")
    with pytest.raises(ExportError):
        export(own("Spectral"), output=tmp_path / "model.onnx")
    assert capfd.readouterr() == ("", "")


def test_an_operator_without_counterpart_is_named_with_its_layer_and_line(tmp_path: Path) -> None:
    with pytest.raises(
        ExportError, match=r"aten::fft_fft2 cannot be written as ONNX - at nets\.py:11, in mix\.1 \(F"
    ) as e:
        export(own("Spectral"), output=tmp_path / "model.onnx")
    assert isinstance(e.value.__cause__, torch.onnx.errors.UnsupportedOperatorError)
    assert not (tmp_path / "model.onnx").exists()
    with pytest.raises(ExportError, match=r"in mix\.1 \(Fourier\)"):
        export(own("Spectral"), output=tmp_path / "model.onnx", pixels=True)
    with pytest.raises(ExportError, match=r"adaptive_avg_pool2d .*not factor of input size.* in pool \(Ada"):
        export(own("Unfolded"), output=tmp_path / "model.onnx")


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("FixedBatch", "ONNX Runtime does not run the exported graph"),
        ("Branching", "answers otherwise than the network: by up to"),
        ("Random", "differently each time"),
        ("Pair", "gives a tuple of 2"),
        ("Diverged", "not finite"),
    ],
)
def test_a_graph_that_would_not_answer_as_the_network_is_not_written(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises((ExportError, ModelError), match=told):
        export(own(name), output=tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_planted_faults_are_found() -> None:
    with open_network(digits()) as network:
        answers = answers_of(network, pixels=False)
        from luthier.compress import encoder

        data = encoder("onnx")(network, pixels=False).data
        assert max_error(on_onnx_runtime(data), answers, network, pixels=False) < 1e-6
        for fault in (_shifted, _doubled, _squashed):
            with pytest.raises(ExportError, match="answers otherwise"):
                max_error(on_onnx_runtime(fault(data)), answers, network, pixels=False)


def _shifted(data: bytes) -> bytes:
    model = onnx.load_from_string(data)
    bias = next(item for item in model.graph.initializer if item.name == "fc3.bias")
    values = onnx.numpy_helper.to_array(bias).copy()
    values[3] += 1e-4
    bias.CopyFrom(onnx.numpy_helper.from_array(values, "fc3.bias"))
    return bytes(model.SerializeToString())


def _doubled(data: bytes) -> bytes:
    model = onnx.load_from_string(data)
    pool = next(node for node in model.graph.node if node.op_type == "MaxPool")
    pool.op_type = "AveragePool"
    for attribute in [item for item in pool.attribute if item.name in ("dilations", "storage_order")]:
        pool.attribute.remove(attribute)
    return bytes(model.SerializeToString())


def _squashed(data: bytes) -> bytes:
    model = onnx.load_from_string(data)
    next(node for node in model.graph.node if node.op_type == "Relu").op_type = "Softplus"
    return bytes(model.SerializeToString())


def test_one_line_says_what_was_written(tmp_path: Path) -> None:
    told = exported_text(export(digits(), output=tmp_path / "model.onnx"))
    assert told.startswith(f"{tmp_path / 'model.onnx'}: onnx, opset 17, 0.250 MB, at most ")
    assert told.endswith("from the network's outputs")
