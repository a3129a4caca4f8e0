"""Ports of TensorFlow's files give TensorFlow's own numbers; they run where an interpreter with TensorFlow is known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from luthier.errors import LuthierError, PortError
from luthier.port import Ported, port
from luthier.port.sources.tensorflow.interpreter import interpreter
from luthier.proof import prove


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What TensorFlow wrote."""
    try:
        python = interpreter()
    except LuthierError as fault:
        pytest.skip(f"no TensorFlow: {fault.sentence}")
    made = tmp_path_factory.mktemp("tensorflow")
    script = Path(__file__).with_name("networks.py")
    done = subprocess.run([python, "-I", str(script), str(made)], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-2000:]
    return made


def text_of(done: Ported) -> str:
    return (done.folder / "model.py").read_text("utf-8")


def difference(done: Ported, numbers: Path, order: tuple[int, ...] = (0, 1, 2, 3)) -> float:
    import mindspore

    with np.load(numbers) as arrays:
        x, y = arrays["x"], arrays["y"]
    assert done.cell is not None
    ours = done.cell(mindspore.Tensor(np.ascontiguousarray(x.transpose(order)))).asnumpy()
    return float(np.abs(ours - y).max())


class TestAFrozenGraph:
    def test_gives_tensorflow_s_numbers_and_keeps_its_scopes(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "blocks.pb", inputs=["x:0"], outputs=["probs:0"], output=tmp_path)
        assert difference(done, folder / "blocks.npz") < 1e-5
        assert '"""Blocks, ported from blocks.pb."""' in text_of(done)
        for line in ("self.block1 = Block(3)", "self.block2 = Block(6)", "self.probs = nn.Softmax()"):
            assert line in text_of(done)
        assert text_of(done).count("permute") == 2
        assert done.manifest.source.origin == str(folder / "blocks.pb")
        assert done.manifest.versions["tf2onnx"]

    def test_is_proven_against_the_conversion_beside_it(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "blocks.pb", outputs=["probs"], inputs=["x:0:?,16,16,3"], output=tmp_path)
        assert done.manifest.source.spec == str(tmp_path / "blocks.onnx")
        assert prove(tmp_path).proven

    def test_is_cut_at_a_tensor(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "blocks.pb", outputs=["block1/relu:0"], output=tmp_path)
        assert "block2" not in text_of(done)

    def test_without_shapes_takes_those_that_are_given(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "shapeless.pb", inputs=["x:0:?,5"], outputs=["y"], output=tmp_path)
        assert done.manifest.inputs[0].shape == ("?", 5)

    def test_whose_shape_is_another_is_one_sentence(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(PortError, match=r"The input 'x' has the shape \?,16,16,3 in the file, got 2,9,9,3"):
            port(folder / "blocks.pb", inputs=["x:0:2,9,9,3"], outputs=["probs"], output=tmp_path)

    @pytest.mark.parametrize(("name", "told"), [("odd", r"Betainc \('odd'\)"), ("foreign", "MyOwn")])
    def test_with_an_operator_that_nobody_knows_names_it(
        self, name: str, told: str, folder: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(PortError, match=told) as fault:
            port(folder / f"{name}.pb", outputs=["odd"], output=tmp_path / "ported")
        assert "\n" not in fault.value.sentence
        assert not (tmp_path / "ported").exists()


class TestASavedModel:
    def test_gives_tensorflow_s_numbers_and_keeps_its_layers(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "small", output=tmp_path)
        assert difference(done, folder / "small.npz") < 1e-5
        for name in ("conv1", "act1", "pool1", "conv2", "dw", "fc1", "fc2"):
            assert f"self.{name} = nn." in text_of(done)
        assert text_of(done).count("class ") == 1

    def test_takes_images_with_channels_first_if_asked(self, folder: Path, tmp_path: Path) -> None:
        done = port(folder / "small", output=tmp_path, inputs=["image:?,16,16,3"], options={"nchw": True})
        assert done.manifest.inputs[0].shape == ("?", 3, 16, 16)
        assert difference(done, folder / "small.npz", (0, 3, 1, 2)) < 1e-5
        assert text_of(done).count("permute") == 1
