"""Networks that ask more than the golden ones: how they are written, and that they compute the same in both modes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from luthier.errors import PortError
from luthier.port import Ported, build_source, open_port, port, ported_text
from luthier.weights import read_map, read_weights

OTHERS = Path(__file__).with_name("others.py")
INPUTS = {
    "VisionTransformer": "1,3,16,16",
    "Pyramid": "x:1,3,16,16:float32",
    "Tied": "?,5:int64",
    "Partly": "1,8",
    "Halves": "1,8",
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

    def test_a_choice_by_the_data_is_one_sentence_with_its_place(self, tmp_path: Path) -> None:
        done = port(f"{OTHERS}:Choosing", inputs=["2,3"], output=tmp_path)
        assert not done.report.complete
        assert "refused: Choosing: The forward pass depends on the data" in ported_text(done)
        assert f" - at {OTHERS}:" in ported_text(done)


class TestWhatCannotBeRead:
    @pytest.fixture
    def halves(self, ports: Mapping[str, Ported]) -> Ported:
        return ports["Halves"]

    def test_what_can_be_read_beside_it_computes_the_same(self, halves: Ported, mode: str) -> None:
        import mindspore

        source = build_source(halves.manifest.source)
        given = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
        cell: Any = halves.cell
        for path, own in (("stem", cell.stem), ("positive", cell.gates[1].positive), ("last", cell.head.last)):
            theirs = next(part for name, part in reversed(list(source.named_modules())) if name.endswith(path))
            expected = theirs(torch.from_numpy(given)).detach().numpy()
            np.testing.assert_allclose(own(mindspore.Tensor(given)).asnumpy(), expected, rtol=1e-4, atol=1e-5)

    def test_a_stub_names_its_class_path_shapes_and_reason(self, halves: Ported, mode: str) -> None:
        import mindspore

        cell: Any = halves.cell
        told = r"Gate.forward was not ported.*gates\.1.*depends on the data.*3, 8"
        with pytest.raises(NotImplementedError, match=told):
            cell.gates[1](mindspore.Tensor(np.zeros((3, 8), np.float32)))
        with pytest.raises(NotImplementedError, match=r"It calls 'gates\.0', which was not ported"):
            cell(mindspore.Tensor(np.zeros((3, 8), np.float32)))

    def test_every_array_is_kept(self, halves: Ported) -> None:
        names = build_source(halves.manifest.source).state_dict().keys()
        back = read_map(halves.folder / "map.json").to_source(read_weights(halves.folder / "weights.safetensors"))
        assert back.keys() == names

    def test_the_report_is_red_there_alone(self, halves: Ported) -> None:
        colors = {node.path: node.color for node in halves.report.tree.children}
        assert colors == {"stem": "green", "gates": "red", "head": "red", "spare": "red"}
        reasons = {operator.name: operator for operator in halves.report.operators if operator.outcome == "refused"}
        assert reasons["Leaving.forward"].at[0].startswith(f"{OTHERS}:")
        assert ".numpy()" in reasons["Leaving.forward"].reason
        assert "never come to it" in reasons["Squeeze.forward"].reason

    def test_a_chain_that_holds_it_is_a_chain_all_the_same(self, tmp_path: Path) -> None:
        done = port(f"{OTHERS}:Chained", inputs=["1,8"], output=tmp_path)
        assert "nn.Dense(8, 8), nn.SequentialCell(nn.ReLU(), Leaving()), nn.Dense(4, 4)" in text(done)
        refused = [operator.name for operator in done.report.operators if operator.outcome == "refused"]
        assert refused == ["Leaving.forward"]

    def test_nothing_of_pytorch_s_own_talk_is_printed(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        port(f"{OTHERS}:Choosing", inputs=["2,3"], output=tmp_path)
        printed = capfd.readouterr()
        assert "arg0_1" not in printed.out + printed.err


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
            ({"inputs": ["1,7"]}, "The network cannot be run: RuntimeError: mat1"),
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
