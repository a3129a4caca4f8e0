"""Files that are broken, foreign or odd: one sentence each, or a stub for what cannot be carried over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from luthier.errors import PortError
from luthier.port import Ported, analyse, port

FLOAT = TensorProto.FLOAT


def model(nodes: Sequence[Any], arrays: Any = (), *, opset: int = 20, shape: Any = ("batch", 3)) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "net",
        [helper.make_tensor_value_info("x", FLOAT, shape)],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(array, name) for name, array in dict(arrays).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)])


def written(made: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "net.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def ported(made: onnx.ModelProto, folder: Path, **options: Any) -> Ported:
    return port(written(made, folder), output=folder / "ported", **options)


def dense(**options: Any) -> onnx.ModelProto:
    weight = np.ones((3, 4), np.float32)
    return model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": weight}, **options)


def external(folder: Path, location: str, *, length: int = 48) -> Path:
    made = dense()
    tensor = made.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)
    return written(made, folder)


class TestFaults:
    def test_a_truncated_file_is_named(self, tmp_path: Path) -> None:
        path = written(dense(), tmp_path)
        path.write_bytes(path.read_bytes()[:-60])
        with pytest.raises(PortError, match="cannot be read as an ONNX model"):
            port(path)

    @pytest.mark.parametrize("content", [b"", b"no model at all", bytes(range(256))])
    def test_another_file_is_named(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "net.onnx"
        path.write_bytes(content)
        with pytest.raises(PortError, match=r"cannot be read as an ONNX model|does not say which opset"):
            port(path)

    def test_a_file_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(PortError, match=r"No ONNX file"):
            port(tmp_path / "none.onnx")

    def test_bytes_that_are_missing_are_counted(self, tmp_path: Path) -> None:
        made = dense()
        made.graph.initializer[0].raw_data = b"\0" * 20
        with pytest.raises(PortError, match=r"'w' has 20 bytes, its shape \(3, 4\) wants 48"):
            ported(made, tmp_path)

    @pytest.mark.parametrize("location", ["../outside.bin", "/etc/passwd", "sub/../../outside.bin"])
    def test_data_outside_the_folder_are_not_read(self, location: str, tmp_path: Path) -> None:
        (tmp_path / "outside.bin").write_bytes(b"\0" * 48)
        folder = tmp_path / "inside"
        folder.mkdir()
        with pytest.raises(PortError, match="outside the model's folder"):
            port(external(folder, location))

    def test_a_link_out_of_the_folder_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "outside.bin").write_bytes(b"\0" * 48)
        folder = tmp_path / "inside"
        folder.mkdir()
        (folder / "data.bin").symlink_to(tmp_path / "outside.bin")
        with pytest.raises(PortError, match="outside the model's folder"):
            port(external(folder, "data.bin"))

    def test_data_that_are_missing_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(PortError, match=r"'data.bin', which has the data of 'w', is missing"):
            port(external(tmp_path, "data.bin"))

    def test_data_that_are_too_short_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "data.bin").write_bytes(b"\0" * 40)
        with pytest.raises(PortError, match=r"'w' needs 48 bytes from 0 on, and data.bin has 40"):
            port(external(tmp_path, "data.bin"))

    def test_data_beside_the_file_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "data.bin").write_bytes(np.arange(12, dtype=np.float32).tobytes())
        done = port(external(tmp_path, "data.bin"), output=tmp_path / "ported")
        assert done.cell is not None
        weight = next(iter(done.cell.get_parameters())).asnumpy()
        np.testing.assert_array_equal(weight, np.arange(12, dtype=np.float32).reshape(3, 4).T)

    def test_a_value_that_nothing_makes_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(PortError, match="uses 'z', which nothing before it makes"):
            ported(model([helper.make_node("Add", ["x", "z"], ["y"])]), tmp_path)

    @pytest.mark.parametrize(("opset", "told"), [(6, "older than 7"), (99, "newer than")])
    def test_an_opset_that_is_not_known_is_named(self, opset: int, told: str, tmp_path: Path) -> None:
        with pytest.raises(PortError, match=told):
            ported(dense(opset=opset), tmp_path)


class TestInputs:
    @pytest.mark.parametrize(
        ("inputs", "told"),
        [
            (["2,5"], "has the shape ?,3 in the file, got 2,5"),
            (["2,3,1"], "has the shape ?,3 in the file"),
            (["z:2,3"], "Unknown input 'z'"),
            (["2,3", "2,3"], "The model has 1 inputs, got 2"),
        ],
    )
    def test_a_shape_that_does_not_fit_is_one_sentence(self, inputs: list[str], told: str, tmp_path: Path) -> None:
        with pytest.raises(PortError) as fault:
            ported(dense(), tmp_path, inputs=inputs)
        assert told in fault.value.sentence
        assert not (tmp_path / "ported").exists()

    def test_an_open_length_is_fixed(self, tmp_path: Path) -> None:
        assert ported(dense(), tmp_path, inputs=["5,3"]).manifest.inputs[0].shape == (5, 3)
        assert ported(dense(), tmp_path).manifest.inputs[0].shape == ("?", 3)

    def test_the_file_is_cut_at_a_value(self, tmp_path: Path) -> None:
        nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("StringConcat", ["h", "h"], ["y"])]
        done = ported(model(nodes), tmp_path, outputs=["h"])
        assert [operator.name for operator in done.report.operators] == ["onnx.Relu"]

    def test_an_output_that_is_not_there_names_the_nearest(self, tmp_path: Path) -> None:
        with pytest.raises(PortError, match="Unknown value 'h'"):
            ported(dense(), tmp_path, outputs=["h"])


class TestStubs:
    @pytest.mark.parametrize(
        ("node", "name"),
        [
            (helper.make_node("Fancy", ["h"], ["y"], domain="mine", size=3), r"mine\.Fancy"),
            (helper.make_node("SequenceConstruct", ["h", "h"], ["y"]), r"onnx\.SequenceConstruct"),
        ],
    )
    def test_what_has_no_rule_is_a_stub_and_the_rest_is_written(self, node: Any, name: str, tmp_path: Path) -> None:
        import mindspore

        done = ported(model([helper.make_node("Relu", ["x"], ["h"]), node]), tmp_path)
        assert not done.report.complete
        assert "ops.relu(x)" in (done.folder / "model.py").read_text("utf-8")
        assert done.cell is not None
        with pytest.raises(NotImplementedError, match=rf"{name} was not ported.*2, 3"):
            done.cell(mindspore.Tensor(np.zeros((2, 3), np.float32)))

    def test_the_report_has_the_reason_the_place_and_a_way_out(self, tmp_path: Path) -> None:
        nodes = [helper.make_node("SplitToSequence", ["x"], ["y"], name="parts")]
        report = analyse(written(model(nodes), tmp_path))
        (refused,) = [operator for operator in report.operators if operator.outcome == "refused"]
        assert "no tensor" in refused.reason
        assert refused.hint
        assert refused.at == ("net.onnx, node parts",)

    def test_a_branch_that_the_file_decides_is_taken(self, tmp_path: Path) -> None:
        def branch(name: str, operator: str) -> onnx.GraphProto:
            return helper.make_graph(
                [helper.make_node(operator, ["x"], [name])],
                name,
                [],
                [helper.make_tensor_value_info(name, FLOAT, None)],
            )

        node = helper.make_node("If", ["c"], ["y"], then_branch=branch("t", "Relu"), else_branch=branch("e", "Exp"))
        done = ported(model([node], {"c": np.array(True)}), tmp_path)
        assert "ops.relu(x)" in (done.folder / "model.py").read_text("utf-8")
