"""Weights come out of a file as they went in, and whatever else a file holds is told in a sentence."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from luthier.errors import ModelError
from luthier.weights import read_weights

MODULE = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
STATE = MODULE.state_dict()


class Odd:
    pass


def equal_to_state(path: Path) -> bool:
    found = read_weights(path)
    return list(found) == list(STATE) and all(np.array_equal(found[name], STATE[name].numpy()) for name in STATE)


@pytest.mark.parametrize("name", ["weights.pt", "weights.pth", "lightning.ckpt"])
def test_pytorch_s_own_files_whatever_they_are_called(tmp_path: Path, name: str) -> None:
    torch.save(STATE, tmp_path / name)
    assert equal_to_state(tmp_path / name)


@pytest.mark.parametrize("key", ["state_dict", "model_state_dict", "model"])
def test_a_training_script_s_file_has_them_beside_the_optimizer_s(tmp_path: Path, key: str) -> None:
    torch.save({"epoch": 3, "optimizer": {"lr": 0.1}, key: STATE}, tmp_path / "last.pt")
    assert equal_to_state(tmp_path / "last.pt")


def test_safetensors(tmp_path: Path) -> None:
    save_file(STATE, tmp_path / "weights.safetensors")
    found = read_weights(tmp_path / "weights.safetensors")
    assert all(np.array_equal(found[name], STATE[name].numpy()) for name in STATE)


@pytest.mark.parametrize("name", ["weights.safetensors", "weights.pt"])
def test_bfloat16_comes_as_float32_with_the_same_values(tmp_path: Path, name: str) -> None:
    narrow = {"weight": torch.tensor([1.0, 0.1, -3.0]).bfloat16()}
    save_file(narrow, tmp_path / name) if name.endswith("safetensors") else torch.save(narrow, tmp_path / name)
    found = read_weights(tmp_path / name)["weight"]
    assert found.dtype == np.float32
    assert found.tolist() == narrow["weight"].float().tolist()


def test_code_in_a_file_is_never_run(tmp_path: Path) -> None:
    torch.save(Odd(), tmp_path / "whole.pt")
    with pytest.raises(ModelError, match=r"it holds objects, which could run code - at .*whole\.pt\n  Save it anew"):
        read_weights(tmp_path / "whole.pt")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("gone.pt", None, "Cannot read the weights: No such file"),
        (
            "junk.pt",
            b"junk",
            "PyTorch reads no weights from this file: it is damaged, or was not written by torch.save",
        ),
        ("words.pt", b"some text", "from this file: it is damaged, or was not written by torch.save"),
        ("empty.pth", b"", "from this file: it is damaged, or was not written by torch.save"),
        ("junk.safetensors", b"junk" * 9, "Not a whole safetensors file"),
        ("weights.bin", b"junk", r"Expected a file of weights, got 'weights.bin' - at .*\n  Known: \.safetensors"),
    ],
)
def test_a_file_that_is_none_is_told_by_name(tmp_path: Path, name: str, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=told):
        read_weights(tmp_path / name)


@pytest.mark.parametrize(
    ("value", "told"), [({}, "got a dictionary of"), ({"lr": 0.1}, "got a dictionary of lr"), ([1], "got list")]
)
def test_a_file_without_tensors_says_what_it_has(tmp_path: Path, value: object, told: str) -> None:
    torch.save(value, tmp_path / "odd.pt")
    with pytest.raises(ModelError, match=told):
        read_weights(tmp_path / "odd.pt")


@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
class TestMindSpore:
    def test_a_checkpoint_and_what_a_callback_appends_to_it(self, tmp_path: Path) -> None:
        import mindspore

        cell = mindspore.nn.Dense(3, 2)
        place = str(tmp_path / "net.ckpt")
        mindspore.save_checkpoint(cell, place, append_dict={"epoch_num": 3, "text": "a"})
        found = read_weights(Path(place))
        assert np.array_equal(found["weight"], cell.weight.asnumpy())
        assert set(found) == {"weight", "bias", "epoch_num"}

    def test_a_damaged_checkpoint_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "junk.ckpt").write_bytes(b"junk")
        with pytest.raises(ModelError, match=r"MindSpore reads no weights from this file: .* - at .*junk\.ckpt$"):
            read_weights(tmp_path / "junk.ckpt")
