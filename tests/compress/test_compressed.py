"""Files that store numbers in fewer bits, and what they are judged by."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx.numpy_helper import from_array, to_array

from luthier.compress import export, exported_text, open_file, stored_bytes, stored_layers
from luthier.compress.float16 import in_float16
from luthier.compress.int8 import in_int8
from luthier.errors import DataError, ExportError, MissingData, RecipeError
from luthier.measure import measure, score
from luthier.recipe import Compress
from luthier.store import Run
from luthier.training import train
from tests.compress.making import digits
from tests.compress.test_onnx import own

SLIM = ("model.name=slim", "model.options.width=0.25")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small `slim` that knows its digits, with a validation part."""
    recipe = digits(*SLIM, "strategy.epochs=2", "strategy.learning_rate=0.05", "data.validation=0.2")
    return train(recipe, out=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def files(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    export(run, output=folder / "float32.onnx")
    return folder


class TestInt8:
    def test_a_graph_of_int8_answers_nearly_as_before_and_stores_a_quarter(self, run: Run, tmp_path: Path) -> None:
        done = export(run, output=tmp_path / "model.onnx", int8=True)
        before, after = done.before, done.worth
        assert before is not None
        assert after is not None
        assert done.judged is not None
        assert (done.judged.split, done.judged.samples, done.storage) == ("validation", 287, "int8")
        assert before.accuracy is not None
        assert after.accuracy is not None
        assert before.accuracy > 80
        assert abs(after.accuracy - before.accuracy) < 3
        assert 0.25 < after.size_mb / before.size_mb < 0.4  # scales and biases of so narrow a network weigh
        assert after.file_mb == done.bytes / 1e6
        assert after.score == score(after.accuracy, after.size_mb, after.latency_ms, run.recipe.score)
        told = exported_text(done).splitlines()
        assert told[0].startswith(f"{tmp_path / 'model.onnx'}: onnx, opset 17, int8, ")
        assert "accuracy on 287 images of the validation part; latency: onnxruntime on cpu" in told[-2]
        assert told[-1].startswith("int8 takes ")

    def test_weights_are_bytes_by_channel_and_the_answers_are_floats(self, run: Run, tmp_path: Path) -> None:
        path = Path(export(run, output=tmp_path / "model.onnx", int8=True).path)
        model = onnx.load(path)
        constants = {tensor.name: to_array(tensor) for tensor in model.graph.initializer}
        conv = next(node for node in model.graph.node if node.op_type == "Conv")
        weight = next(node for node in model.graph.node if conv.input[1] in node.output)
        assert constants[weight.input[0]].dtype == np.int8
        assert constants[weight.input[1]].shape == (8,)
        assert model.graph.node[-1].op_type != "DequantizeLinear"
        floats = sum(size for kind, size in stored_bytes(model).items() if kind == "float32")
        assert floats < 0.2 * sum(stored_bytes(model).values())

    def test_layers_keep_their_names_and_parameters(self, run: Run, files: Path, tmp_path: Path) -> None:
        export(run, output=tmp_path / "int8.onnx", int8=True)
        plain, small = (stored_layers(onnx.load(file)) for file in (files / "float32.onnx", tmp_path / "int8.onnx"))
        assert [(item.layer, item.kind, item.shapes) for item in plain] == [
            (item.layer, item.kind, item.shapes) for item in small
        ]
        assert [item.layer for item in plain][:2] == ["stage1.conv1", "stage1.conv2"]
        assert plain[0].shapes == {"weight": (8, 1, 3, 3), "bias": (8,)}

    def test_layers_can_be_left_in_float32(self, files: Path) -> None:
        data = (files / "float32.onnx").read_bytes()
        images = np.random.default_rng(0).standard_normal((4, 1, 32, 32), np.float32)
        whole = onnx.load_from_string(in_int8(data, images, Compress()))
        some = onnx.load_from_string(in_int8(data, images, Compress(exclude=("first", "last", "stage2.conv1"))))
        weights = 8 * 9 + 8 * 20 * 9 + 36 * 10
        assert stored_bytes(whole)["int8"] - stored_bytes(some)["int8"] >= weights
        with pytest.raises(
            ExportError, match=r"No layer 'stage2\.conv9' in the graph - at compress\.exclude\n  Perhaps"
        ):
            in_int8(data, images, Compress(exclude=("stage2.conv9",)))

    def test_seven_bits_leave_half_the_range(self, files: Path) -> None:
        data = (files / "float32.onnx").read_bytes()
        images = np.random.default_rng(0).standard_normal((4, 1, 32, 32), np.float32)

        def greatest(config: Compress) -> int:
            model = onnx.load_from_string(in_int8(data, images, config))
            arrays = [to_array(tensor) for tensor in model.graph.initializer]
            return max(
                int(np.abs(array.astype(int)).max()) for array in arrays if array.dtype == np.int8 and array.ndim > 1
            )

        assert (greatest(Compress()), greatest(Compress(weight_bits=7))) == (127, 64)

    @pytest.mark.parametrize("ranges", ["percentile", "entropy"])
    def test_other_ranges_are_quiet_too(
        self, run: Run, tmp_path: Path, ranges: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        overrides = [f"compress.ranges={ranges}", "compress.calibration=70"]
        done = export(run, output=tmp_path / "model.onnx", int8=True, overrides=overrides)
        assert done.worth is not None
        assert done.worth.accuracy is not None
        assert done.worth.accuracy > 70
        assert capsys.readouterr().out == ""
        assert open_file(done.path).recipe.compress == Compress(ranges=ranges, calibration=70)  # type: ignore[arg-type]

    def test_pixels_are_normalised_in_float32(self, run: Run, tmp_path: Path) -> None:
        done = export(run, output=tmp_path / "model.onnx", int8=True, pixels=True)
        assert done.worth is not None
        assert done.before is not None
        assert done.worth.accuracy == pytest.approx(done.before.accuracy, abs=3)
        kinds = [node.op_type for node in onnx.load(done.path).graph.node]
        assert kinds.index("Mul") < kinds.index("Add") < kinds.index("Conv")
        assert "QuantizeLinear" not in kinds[: kinds.index("Add")]

    def test_what_was_not_trained_has_a_size_and_a_latency(self, tmp_path: Path) -> None:
        done = export(digits(*SLIM), output=tmp_path / "model.onnx", int8=True)
        assert done.worth is not None
        assert (done.worth.accuracy, done.worth.score) == (None, None)
        assert done.worth.latency_ms > 0
        assert exported_text(done).endswith("of float32's time here, taken in turn")

    def test_without_a_validation_part_training_images_judge(self, tmp_path: Path) -> None:
        done = export(digits(*SLIM), output=tmp_path / "model.onnx", int8=True)
        assert done.judged is not None
        assert (done.judged.split, done.judged.samples) == ("train", 1437 - 512)
        with pytest.raises(DataError, match=r"The training part has 1,437 images, 1,500 were to be calibrated on"):
            export(digits(*SLIM), output=tmp_path / "m.onnx", int8=True, overrides=["compress.calibration=1500"])
        with pytest.raises(DataError, match="nothing was held back"):
            export(digits(*SLIM), output=tmp_path / "m.onnx", int8=True, split="validation")


class TestFloat16:
    def test_half_the_bytes_and_the_same_answers(self, run: Run, tmp_path: Path) -> None:
        done = export(run, output=tmp_path / "model.onnx", float16=True)
        assert done.worth is not None
        assert done.before is not None
        assert done.worth.size_mb / done.before.size_mb == pytest.approx(0.5, abs=0.02)
        assert done.worth.accuracy == pytest.approx(done.before.accuracy, abs=0.5)
        assert done.max_error is not None
        assert 0 < done.max_error < 0.1

    def test_the_graph_computes_with_the_rounded_weights(self, files: Path) -> None:
        from luthier.compress.checking import on_onnx_runtime

        data = (files / "float32.onnx").read_bytes()
        rounded = onnx.load_from_string(data)
        for tensor in rounded.graph.initializer:
            if len(tensor.dims) > 1:
                tensor.CopyFrom(from_array(to_array(tensor).astype(np.float16).astype(np.float32), tensor.name))
        images = np.random.default_rng(0).standard_normal((3, 1, 32, 32), np.float32)
        expected = on_onnx_runtime(rounded.SerializeToString())(images)
        assert np.array_equal(on_onnx_runtime(in_float16(data))(images), expected)

    def test_a_weight_beyond_float16_is_refused(self, files: Path) -> None:
        model = onnx.load(files / "float32.onnx")
        tensor = next(item for item in model.graph.initializer if len(item.dims) > 1)
        tensor.CopyFrom(from_array(to_array(tensor) + np.float32(1e5), tensor.name))
        with pytest.raises(ExportError, match=r"A weight of 1e\+05 is beyond float16"):
            in_float16(model.SerializeToString())


class TestMistakes:
    def test_two_storages_or_another_format(self, tmp_path: Path) -> None:
        with pytest.raises(ExportError, match="not as both"):
            export(digits(), output=tmp_path / "m.onnx", int8=True, float16=True)
        with pytest.raises(ExportError, match=r"Only an ONNX graph is stored as int8, not mindir\n  Use --format onnx"):
            export(digits(), output=tmp_path / "m.mindir", format="mindir", int8=True)

    def test_other_fields_cannot_be_set(self, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"Only the fields of \[compress\] and \[score\] can be set"):
            export(digits(), output=tmp_path / "m.onnx", int8=True, overrides=["model.name=slim"])

    def test_missing_data_is_named_and_nothing_is_written(self, tmp_path: Path) -> None:
        recipe = digits("data.name=cifar10", "data.normalize={mean=[0.5,0.5,0.5],std=[0.5,0.5,0.5]}")
        with pytest.raises(MissingData):
            export(recipe, output=tmp_path / "m.onnx", int8=True, data_root=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_a_network_without_convolutions_or_dense_layers(self) -> None:
        from onnx.helper import make_graph, make_model, make_node, make_tensor_value_info

        value = [make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 4]) for name in ("images", "logits")]
        graph = make_graph([make_node("Relu", ["images"], ["logits"], name="Relu")], "g", value[:1], value[1:])
        data = make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
        with pytest.raises(ExportError, match="no convolution and no dense layer"):
            in_int8(data, np.zeros((2, 4), np.float32), Compress())
        with pytest.raises(ExportError, match="no weights that could be stored as float16"):
            in_float16(data)

    def test_a_users_own_network_is_stored_too(self, tmp_path: Path) -> None:
        done = export(own("Dilated"), output=tmp_path / "m.onnx", int8=True)
        assert done.storage == "int8"


class TestFilesAsRows:
    def test_a_file_is_a_row_beside_its_run(self, run: Run, files: Path, tmp_path: Path) -> None:
        export(run, output=tmp_path / "int8.onnx", int8=True)
        whole, plain, small = (measure(item) for item in (run, files / "float32.onnx", tmp_path / "int8.onnx"))
        assert (plain.name, plain.run, plain.file) == ("float32", None, str(files / "float32.onnx"))
        assert (plain.step, plain.samples, plain.epochs) == (whole.step, 360, whole.epochs)
        assert plain.accuracy == whole.accuracy
        assert plain.loss == pytest.approx(whole.loss, rel=1e-4)
        assert small.accuracy == pytest.approx(whole.accuracy, abs=3)
        assert small.size_mb < 0.4 * plain.size_mb
        assert small.file_mb == (tmp_path / "int8.onnx").stat().st_size / 1e6
        assert small.accuracy is not None
        assert small.latency_ms is not None
        assert small.score == score(small.accuracy, small.size_mb, small.latency_ms)

    def test_a_file_that_takes_pixels_is_fed_with_them(self, run: Run, tmp_path: Path) -> None:
        export(run, output=tmp_path / "pixels.onnx", pixels=True)
        assert measure(tmp_path / "pixels.onnx").accuracy == measure(run, latency=False).accuracy

    def test_a_file_of_a_recipe_has_no_accuracy(self, tmp_path: Path) -> None:
        export(digits("strategy.steps=90"), output=tmp_path / "m.onnx")
        row = measure(tmp_path / "m.onnx")
        assert (row.accuracy, row.score, row.step, row.epochs) == (None, None, None, 90 / 44)

    def test_another_runtime_reads_it_and_a_frameworks_cannot(self, files: Path) -> None:
        from luthier.errors import MeasureError

        row = measure(files / "float32.onnx", overrides=["score.runtime=openvino", "score.runs=5"])
        assert row.latency is not None
        assert row.latency.runtime == "openvino"
        with pytest.raises(MeasureError, match=r"takes a network - at score\.runtime"):
            measure(files / "float32.onnx", overrides=["score.runtime=torch-eager"])

    def test_other_fields_cannot_be_set_and_foreign_files_are_refused(self, files: Path, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match=r"Only the fields of \[score\] can be set for a file"):
            measure(files / "float32.onnx", overrides=["data.batch_size=2"])
        with pytest.raises(ExportError, match="No such file"):
            measure(tmp_path / "none.onnx")
        (tmp_path / "broken.onnx").write_bytes(b"no graph at all")
        with pytest.raises(ExportError, match="no ONNX graph, or a damaged one"):
            measure(tmp_path / "broken.onnx")
        model = onnx.load(files / "float32.onnx")
        del model.metadata_props[:]
        onnx.save(model, tmp_path / "foreign.onnx")
        with pytest.raises(ExportError, match="does not say which recipe it came from"):
            measure(tmp_path / "foreign.onnx")


def test_a_recipe_comes_back_from_its_file_whole(run: Run, files: Path) -> None:
    file = open_file(files / "float32.onnx")
    assert file.recipe == replace(run.recipe, space={})
    assert (file.classes[9], file.shape, file.pixels, file.storage) == ("9", (32, 32, 1), False, "float32")
