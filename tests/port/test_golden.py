"""The ports of LeNet-5 and ResNet-50: as short as a person's, and the same network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import luthier.zoo
from luthier.port import Ported, build_source, open_port, port

NETS = Path(__file__).with_name("nets.py")
GOLDEN = Path(__file__).parents[1] / "golden"
BY_HAND = Path(luthier.zoo.__file__).parent / "mindspore"
CASES = {"lenet5": ("1,3,32,32", "lenet5.py"), "resnet50": ("1,3,64,64", "resnet.py")}


@pytest.fixture(scope="module", params=CASES)
def ported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Ported]:
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    return name, port(f"{NETS}:{name}", inputs=[CASES[name][0]], output=folder)


class TestGolden:
    def test_the_text_is_the_committed_one(self, ported: tuple[str, Ported]) -> None:
        name, done = ported
        assert (done.folder / "model.py").read_text("utf-8") == (GOLDEN / f"{name}.py").read_text("utf-8")

    def test_it_is_no_longer_than_a_person_s_by_a_third(self, ported: tuple[str, Ported]) -> None:
        name, done = ported
        lines = (done.folder / "model.py").read_text("utf-8").count("\n")
        assert lines <= 1.3 * (BY_HAND / CASES[name][1]).read_text("utf-8").count("\n")

    def test_it_imports_mindspore_alone(self, ported: tuple[str, Ported]) -> None:
        name, _ = ported
        lines = (GOLDEN / f"{name}.py").read_text("utf-8").splitlines()
        assert [line for line in lines if "import" in line] == ["from mindspore import Tensor, nn"]

    def test_everything_went_over(self, ported: tuple[str, Ported]) -> None:
        assert ported[1].report.complete
        assert {operator.outcome for operator in ported[1].report.operators} == {"ported"}

    def test_the_outputs_are_the_source_s(self, ported: tuple[str, Ported], mode: str) -> None:
        import mindspore

        _, done = ported
        manifest = open_port(done.folder)
        source = build_source(manifest.source)
        shape = [3 if length == "?" else length for length in manifest.inputs[0].shape]
        images = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        with torch.no_grad():
            expected = source(torch.from_numpy(images)).numpy()
        assert done.cell is not None
        found = done.cell(mindspore.Tensor(images)).asnumpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)

    def test_every_layer_is_found_on_both_sides(self, ported: tuple[str, Ported]) -> None:
        _, done = ported
        paths = {path for path, _ in done.cell.cells_and_names()} if done.cell else set()
        lines = (done.folder / "model.py").read_text("utf-8").splitlines()
        for layer in done.manifest.layers:
            assert layer.path in paths
            file, _, line = layer.emitted_line.partition(":")
            assert file == "model.py"
            assert lines[int(line) - 1].strip()
