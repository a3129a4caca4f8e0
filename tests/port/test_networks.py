"""Networks that ask more than the golden ones: how they are written, and that they compute the same in both modes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from luthier.errors import PortError
from luthier.port import Ported, build_source, open_port, port
from luthier.weights import read_map, read_weights

OTHERS = Path(__file__).with_name("others.py")
INPUTS = {
    "VisionTransformer": "1,3,16,16",
    "Pyramid": "x:1,3,16,16:float32",
    "Tied": "?,5:int64",
    "Partly": "1,8",
}


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Ported]:
    folder = tmp_path_factory.mktemp("ports")
    return {name: port(f"{OTHERS}:{name}", inputs=[given], output=folder / name) for name, given in INPUTS.items()}


def text(done: Ported) -> str:
    return (done.folder / "model.py").read_text("utf-8")


def flat(given: Any) -> list[Any]:
    if isinstance(given, dict):
        return list(given.values())
    return list(given) if isinstance(given, tuple | list) else [given]


class TestWhatIsComputed:
    @pytest.mark.parametrize("name", ["VisionTransformer", "Pyramid", "Tied"])
    def test_the_outputs_are_the_source_s_for_another_batch(self, name: str, ports: Any, mode: str) -> None:
        import mindspore

        done = ports[name]
        source = build_source(open_port(done.folder).source)
        generator = torch.Generator().manual_seed(0)
        shape = [3 if length == "?" else length for length in done.manifest.inputs[0].shape]
        real = done.manifest.inputs[0].dtype == "float32"
        given = torch.randn(shape, generator=generator) if real else torch.randint(0, 11, shape, generator=generator)
        with torch.no_grad():
            expected = flat(source(given))
        found = flat(done.cell(mindspore.Tensor(given.numpy())))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.asnumpy(), other.numpy(), rtol=1e-4, atol=1e-5)

    def test_the_weights_on_disk_are_the_source_s_by_the_map(self, ports: Any) -> None:
        done = ports["Tied"]
        state = {name: value.numpy() for name, value in build_source(done.manifest.source).state_dict().items()}
        back = read_map(done.folder / "map.json").to_source(read_weights(done.folder / "weights.safetensors"))
        assert back.keys() == state.keys()
        assert all(np.array_equal(back[name], state[name]) for name in state)
        assert (
            read_weights(done.folder / "weights.ckpt").keys()
            == read_weights(done.folder / "weights.safetensors").keys()
        )


class TestWhatIsWritten:
    def test_a_list_of_equal_cells_is_a_loop(self, ports: Any) -> None:
        written = text(ports["VisionTransformer"])
        assert "self.blocks = nn.CellList([Block() for _ in range(3)])" in written
        assert "        for block in self.blocks:\n            x = block(x)\n" in written

    def test_names_of_variables_are_the_source_s(self, ports: Any) -> None:
        assert "        q, k, v = ops.unbind(qkv, 0)\n" in text(ports["VisionTransformer"])

    def test_the_batch_stays_open(self, ports: Any) -> None:
        assert ".reshape(-1, 17, 16)" in text(ports["VisionTransformer"])

    def test_a_branch_that_some_instances_lack_has_a_condition(self, ports: Any) -> None:
        written = text(ports["Pyramid"])
        assert "def __init__(self, before: int, after: int, stride: int = 1) -> None:" in written
        assert "        if before != after:\n            self.downsample = nn.SequentialCell(" in written
        assert "class Residual2" not in written

    def test_what_is_always_a_part_of_an_argument_is_computed(self, ports: Any) -> None:
        assert "nn.Conv2d(channels, channels // 4, 1" in text(ports["Pyramid"])

    def test_outputs_keep_their_names(self, ports: Any) -> None:
        assert 'return {"high": ' in text(ports["Pyramid"])

    def test_shared_weights_stay_shared(self, ports: Any) -> None:
        assert "self.head.weight = self.embed.embedding_table" in text(ports["Tied"])

    def test_the_page_shows_both_sources(self, ports: Any) -> None:
        page = (ports["Pyramid"].folder / "report.html").read_text("utf-8")
        assert "class Residual(nn.Module):" in page
        assert "class Residual(nn.Cell):" in page


class TestWhatCannotBePorted:
    def test_the_rest_is_written_and_the_operator_is_a_stub_that_tells_its_shapes(self, ports: Any, mode: str) -> None:
        import mindspore

        done = ports["Partly"]
        refused = [operator for operator in done.report.operators if operator.outcome == "refused"]
        assert [operator.name for operator in refused] == ["aten.special_bessel_j0.default"]
        assert refused[0].at[0].startswith(f"{OTHERS}:")
        assert not done.report.complete
        with pytest.raises(NotImplementedError, match=r"special_bessel_j0.*2, 8"):
            done.cell(mindspore.Tensor(np.zeros((2, 8), np.float32)))

    def test_a_choice_by_the_data_is_one_sentence(self) -> None:
        with pytest.raises(PortError, match="depends on the data") as fault:
            port(f"{OTHERS}:Choosing", inputs=["2,3"])
        assert fault.value.at is not None
        assert fault.value.at.startswith(f"{OTHERS}:")


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({}, "The shapes of the inputs are not known"),
            ({"inputs": ["1,8"], "weights": "WRONG"}, "The weights do not fit: 4 missing"),
            ({"inputs": ["y:1,8"]}, "Unknown argument 'y'"),
            ({"inputs": ["1,x"]}, "Expected [name:]shape[:dtype], got '1,x'"),
            ({"inputs": ["1,0"]}, "Expected lengths of at least 1"),
            ({"inputs": ["1,8:float23"]}, "Unknown dtype 'float23'"),
            ({"inputs": ["1,7"]}, "The network cannot be read"),
            ({"inputs": ["1,8"], "options": {"width": 2}}, "raised TypeError"),
        ],
    )
    def test_each_is_one_sentence(self, arguments: dict[str, Any], sentence: str, tmp_path: Path) -> None:
        if arguments.get("weights"):
            torch.save({"frist.weight": torch.zeros(8, 8)}, tmp_path / "a.pt")
            arguments = {**arguments, "weights": tmp_path / "a.pt"}
        with pytest.raises(PortError) as fault:
            port(f"{OTHERS}:Partly", output=tmp_path / "ported", **arguments)
        assert sentence in fault.value.sentence
        assert not (tmp_path / "ported").exists()

    def test_a_folder_without_a_port_says_how_to_make_one(self, tmp_path: Path) -> None:
        with pytest.raises(PortError, match="luthier port SOURCE -o DIR"):
            open_port(tmp_path)
