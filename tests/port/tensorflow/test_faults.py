"""What is found wrong with a TensorFlow file before TensorFlow is asked: one sentence each, and nothing is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from luthier.errors import MissingPackage, PortError
from luthier.port import port
from luthier.port.sources.tensorflow import interpreter
from luthier.port.sources.tensorflow.asked import Wanted, wanted
from luthier.port.sources.tensorflow.scopes import paths
from tests.cli.calling import luthier
from tests.port.tensorflow.files import NETWORK, frozen, node, saved

SERVING = {"serving_default": (["image"], ["logits"])}


def refused(source: Path, inputs: Sequence[str] = (), outputs: Sequence[str] = ("probs:0",), **options: object) -> str:
    folder = source.parent / "ported"
    with pytest.raises(PortError) as fault:
        port(source, output=folder, inputs=inputs, outputs=outputs, options=options)
    assert not folder.exists()
    assert "\n" not in fault.value.sentence
    return str(fault.value)


class TestAFrozenGraph:
    @pytest.mark.parametrize("content", [b"", b"no graph at all", bytes(range(256)), NETWORK[2][:-3], b"\xff" * 40])
    def test_that_is_broken_is_named(self, content: bytes, tmp_path: Path) -> None:
        path = frozen(tmp_path)
        path.write_bytes(content)
        assert "cannot be read as a frozen graph" in refused(path)

    def test_every_cut_of_its_bytes_is_named(self, tmp_path: Path) -> None:
        whole = b"".join(NETWORK[:4])
        for length in range(len(whole)):
            path = frozen(tmp_path)
            path.write_bytes(whole[:length])
            assert str(path) in refused(path, outputs=["probs"]) or length in _ends(NETWORK)

    def test_that_lacks_a_node_names_it(self, tmp_path: Path) -> None:
        assert "'probs' uses 'fc/matmul', which is not in the graph" in refused(
            frozen(tmp_path, NETWORK[0], NETWORK[3])
        )

    def test_that_is_not_frozen_names_its_variable(self, tmp_path: Path) -> None:
        told = refused(frozen(tmp_path, node("v", "VarHandleOp"), *NETWORK))
        assert "not frozen: 'v' is a variable" in told

    def test_without_an_output_is_offered_its_ends(self, tmp_path: Path) -> None:
        told = refused(frozen(tmp_path), outputs=())
        assert "does not say which of its tensors are results" in told
        assert "Nothing uses probs: name one, such as --output probs:0" in told

    @pytest.mark.parametrize(
        ("inputs", "outputs", "told"),
        [
            ([], ["prob:0"], "Unknown tensor 'prob' - at --output prob:0\n  Perhaps you meant 'probs'."),
            (["y:0"], ["probs"], "Unknown tensor 'y' - at --input y:0"),
            (["fc/matmul:0"], ["probs"], "'fc/matmul' is made by a MatMul, expected a placeholder"),
            (["x:0:1,b"], ["probs"], "Expected a shape, got '1,b'"),
            (["x:0:0,3"], ["probs"], "Expected lengths of at least 1"),
            (["x:0:1,3:real"], ["probs"], "Unknown dtype 'real'"),
            (["1,224,224,3"], ["probs"], "Expected name[:index][:shape][:dtype]"),
        ],
    )
    def test_whose_tensors_are_misnamed(self, inputs: list[str], outputs: list[str], told: str, tmp_path: Path) -> None:
        assert told in refused(frozen(tmp_path), inputs, outputs)

    def test_has_no_signatures(self, tmp_path: Path) -> None:
        assert "has no signatures" in refused(frozen(tmp_path), signature="serve")

    def test_takes_two_options_alone(self, tmp_path: Path) -> None:
        assert "Perhaps you meant 'nchw'" in refused(frozen(tmp_path), nchv=True)
        assert "Expected true or false, got 'yes'" in refused(frozen(tmp_path), nchw="yes")

    def test_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert "No TensorFlow file" in refused(tmp_path / "none.pb")

    def test_ends_the_command_with_2(self, tmp_path: Path) -> None:
        said = luthier("port", frozen(tmp_path), "--output", "prob")
        assert said.code == 2
        assert "Perhaps you meant 'probs'" in said.err


class TestASavedModel:
    def test_that_is_broken_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "saved_model.pb").write_bytes(b"no model")
        assert "cannot be read as a SavedModel" in refused(tmp_path, outputs=())

    def test_without_a_signature_is_named(self, tmp_path: Path) -> None:
        assert "has no signature" in refused(saved(tmp_path, {}), outputs=())

    @pytest.mark.parametrize(
        ("inputs", "outputs", "options", "told"),
        [
            (["img"], [], {}, "Unknown input 'img' - at --input img"),
            (["image:0"], [], {}, "Unknown input 'image:0'"),
            ([], ["logit"], {}, "Unknown output 'logit' - at --output logit\n  Perhaps you meant 'logits'."),
            ([], [], {"signature": "serving"}, "Perhaps you meant 'serving_default'."),
        ],
    )
    def test_whose_names_are_missed(
        self, inputs: list[str], outputs: list[str], options: dict[str, str], told: str, tmp_path: Path
    ) -> None:
        assert told in refused(saved(tmp_path, SERVING), inputs, outputs, **options)

    def test_with_several_signatures_offers_them(self, tmp_path: Path) -> None:
        told = refused(saved(tmp_path, {"embed": ([], ["e"]), "classify": ([], ["c"])}), outputs=())
        assert "--set signature=classify; it has classify, embed" in told

    @pytest.mark.parametrize("suffix", [".keras", ".h5"])
    def test_is_what_a_keras_file_should_become(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / f"model{suffix}"
        path.write_bytes(b"")
        assert "model.export('folder') writes a SavedModel" in refused(path)


class TestTheInterpreter:
    def test_is_told_how_to_be_made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(interpreter.VARIABLE, raising=False)
        monkeypatch.setattr(interpreter, "NEEDED", ("no_such_package",))
        with pytest.raises(MissingPackage, match="pip install tensorflow tf2onnx && export LUTHIER_"):
            port(frozen(tmp_path), outputs=["probs"])

    @pytest.mark.parametrize("place", ["none/python", "."])
    def test_that_is_not_there_is_named(self, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(interpreter.VARIABLE, str(tmp_path / place))
        assert "No interpreter" in refused(frozen(tmp_path))

    @pytest.mark.parametrize(
        ("text", "told"),
        [("#!/bin/sh\ncat >/dev/null; echo odd >&2; exit 3", "ended with 3: odd"), ("junk", "cannot be run")],
    )
    def test_that_is_none_is_named(self, text: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = tmp_path / "python"
        other.write_text(text)
        other.chmod(0o755)
        monkeypatch.setenv(interpreter.VARIABLE, str(other))
        assert told in refused(frozen(tmp_path))

    def test_that_lacks_tensorflow_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = tmp_path / "python"
        other.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without any package
        other.chmod(0o755)
        monkeypatch.setenv(interpreter.VARIABLE, str(other))
        with pytest.raises(MissingPackage, match="lacks a package"):
            port(frozen(tmp_path), outputs=["probs"])


class TestNames:
    @pytest.mark.parametrize(
        ("text", "meant"),
        [
            ("x", Wanted(name="x")),
            ("x:0", Wanted(name="x:0")),
            ("a/x:1:?,8,8,3", Wanted(name="a/x:1", shape=("?", 8, 8, 3))),
            ("x:1,3:int64", Wanted(name="x", shape=(1, 3), dtype="int64")),
            ("x:0:3", Wanted(name="x:0", shape=(3,))),
        ],
    )
    def test_an_input_is_a_name_an_index_a_shape_and_a_dtype(self, text: str, meant: Wanted) -> None:
        assert wanted(text) == meant

    def test_a_layer_takes_its_scope_and_its_activation_stands_behind(self) -> None:
        called = "StatefulPartitionedCall/net_1"
        assert paths(
            [
                (f"{called}/conv1_1/BiasAdd__6", "Transpose"),
                (f"{called}/conv1_1/BiasAdd", "Conv"),
                (f"{called}/conv1_1/Relu", "Relu"),
                (f"{called}/pool_1/MaxPool2d", "MaxPool"),
                (f"{called}/flatten_1/Reshape", "Reshape"),
                (f"{called}/fc_1/MatMul", "MatMul"),
                (f"{called}/fc_1/BiasAdd", "Add"),
                (f"{called}/fc_1/Gelu/mul", "Mul"),
            ]
        ) == ["Transpose", "/conv1/Conv", "Relu", "/pool/MaxPool", "Reshape", "/fc/MatMul", "/fc/Add", "Mul"]

    def test_nodes_that_a_person_named_are_modules_of_their_scope(self) -> None:
        assert paths([("a/conv", "Conv"), ("a/relu", "Relu"), ("b/conv", "Conv"), ("b/relu", "Relu")]) == [
            "/a/conv/Conv",
            "/a/relu/Relu",
            "/b/conv/Conv",
            "/b/relu/Relu",
        ]


def _ends(nodes: Sequence[bytes]) -> set[int]:
    """Where a cut leaves whole nodes, and so a graph."""
    return {sum(map(len, nodes[:i])) for i in range(1, len(nodes) + 1)}
