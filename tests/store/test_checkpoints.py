from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from luthier.errors import CheckpointError, StoreError
from luthier.recipe import Recipe
from luthier.store import Run, latest_checkpoint, load_checkpoint, save_checkpoint

FILES = ["weights.safetensors", "state.safetensors", "progress.json"]
DTYPES = st.sampled_from(["bool", "uint8", "int8", "int32", "int64", "uint64", "float16", "float32", "float64"])
ARRAYS = DTYPES.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=4)))
WEIGHTS: dict[str, Any] = {"conv1.weight": np.arange(12, dtype=np.float32).reshape(3, 4)}
STATE: dict[str, Any] = {
    "optimizer/momentum/conv1.weight": np.ones((3, 4), np.float32),
    "rng/torch": np.arange(9, dtype=np.uint8),
}
PROGRESS: dict[str, Any] = {"epoch": 3, "events_length": 4096, "best": {"step": 50, "loss": 0.25}}


def save(run: Run, step: int) -> Path:
    return save_checkpoint(run, step, WEIGHTS, STATE, PROGRESS)


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(
        array.dtype == right[name].dtype
        and array.shape == right[name].shape
        and array.tobytes() == right[name].tobytes()
        for name, array in left.items()
    )


class TestRoundTrip:
    def test_everything_comes_back(self, run: Run) -> None:
        path = save(run, 78_100)
        assert path == run.path / "checkpoints" / "step-00078100"
        back = load_checkpoint(path)
        assert same(back.weights, WEIGHTS)
        assert same(back.state, STATE)
        assert (back.step, back.progress) == (78_100, PROGRESS)

    @settings(deadline=None)
    @given(st.dictionaries(st.text(min_size=1, max_size=10), ARRAYS, max_size=4))
    def test_arrays_of_any_shape_and_kind_come_back_to_the_bit(self, weights: dict[str, Any]) -> None:
        with TemporaryDirectory() as folder:
            run = Run(Path(folder), Recipe())
            assert same(load_checkpoint(save_checkpoint(run, 1, weights, {}, {})).weights, weights)

    def test_views_are_stored_as_they_look_and_not_as_they_lie_in_memory(self, run: Run) -> None:
        table = np.arange(12, dtype=np.float32).reshape(3, 4)
        views = {"transposed": table.T, "strided": table[:, ::2], "reversed": table[::-1]}
        back = load_checkpoint(save_checkpoint(run, 1, views, {}, {}))
        assert all(np.array_equal(back.weights[name], view) for name, view in views.items())

    def test_what_is_loaded_can_be_written_to(self, run: Run) -> None:
        back = load_checkpoint(save(run, 1))
        back.weights["conv1.weight"] += 1

    def test_weights_are_a_plain_safetensors_file(self, run: Run) -> None:
        from safetensors.numpy import load_file

        assert same(load_file(save(run, 1) / "weights.safetensors"), WEIGHTS)

    def test_progress_names_the_files_hashes_for_any_reader(self, run: Run) -> None:
        import hashlib

        path = save(run, 5)
        progress = json.loads((path / "progress.json").read_text("utf-8"))
        assert progress["step"] == 5
        for name in FILES[:2]:
            assert progress["files"][name]["sha256"] == hashlib.sha256((path / name).read_bytes()).hexdigest()

    def test_the_same_step_again_takes_the_place_of_the_first(self, run: Run) -> None:
        damaged = save(run, 1) / "weights.safetensors"
        damaged.write_bytes(b"")
        assert same(load_checkpoint(save(run, 1)).weights, WEIGHTS)
        assert [path.name for path in (run.path / "checkpoints").iterdir()] == ["step-00000001"]


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


class TestDamage:
    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("harm", [cut_short, flip, lengthen, Path.unlink])
    def test_the_damaged_file_is_named_and_the_one_before_offered(
        self, run: Run, name: str, harm: Callable[[Path], None]
    ) -> None:
        older, newer = save(run, 100), save(run, 200)
        harm(newer / name)
        with pytest.raises(CheckpointError, match=f"{name} of checkpoint step-00000200 is") as caught:
            load_checkpoint(newer)
        assert caught.value.at == str(newer / name)
        assert caught.value.hint == f"The one before it is whole: {older}"

    def test_what_is_cut_short_says_how_much_is_there(self, run: Run) -> None:
        path = save(run, 1)
        whole = (path / "state.safetensors").stat().st_size
        cut_short(path / "state.safetensors")
        with pytest.raises(CheckpointError, match=f"is cut short: {whole - 1} of {whole} bytes are there"):
            load_checkpoint(path)

    def test_one_that_is_damaged_too_is_not_offered(self, run: Run) -> None:
        oldest, older, newest = (save(run, step) for step in (1, 2, 3))
        for path in (older, newest):
            flip(path / "weights.safetensors")
        with pytest.raises(CheckpointError) as caught:
            load_checkpoint(newest)
        assert caught.value.hint == f"The one before it is whole: {oldest}"

    def test_the_first_has_none_before_it(self, run: Run) -> None:
        path, _ = save(run, 1), save(run, 2)
        flip(path / "weights.safetensors")
        with pytest.raises(CheckpointError) as caught:
            load_checkpoint(path)
        assert caught.value.hint == "There is no whole one before it."

    def test_files_of_another_checkpoint_are_not_taken(self, run: Run) -> None:
        path, other = save(run, 1), save_checkpoint(run, 2, {"conv1.weight": np.ones(3)}, {}, {})
        shutil.copy(other / "weights.safetensors", path)
        with pytest.raises(CheckpointError, match="weights"):
            load_checkpoint(path)

    def test_one_that_is_not_there_is_named(self, run: Run) -> None:
        save(run, 1)
        with pytest.raises(CheckpointError, match="There is no checkpoint step-00000002") as caught:
            load_checkpoint(run.path / "checkpoints" / "step-00000002")
        assert caught.value.hint is not None
        assert "step-00000001" in caught.value.hint

    def test_every_single_byte_counts(self, run: Run) -> None:
        path = save(run, 1)
        for file in (path / name for name in FILES):
            whole = file.read_bytes()
            for position in range(len(whole)):
                file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x20]) + whole[position + 1 :])
                with pytest.raises(CheckpointError):
                    load_checkpoint(path)
            file.write_bytes(whole)
        assert load_checkpoint(path).step == 1

    @settings(deadline=None, max_examples=200)
    @given(st.sampled_from(FILES), st.integers(1, 255), st.data())
    def test_any_change_of_a_byte_is_refused(self, name: str, mask: int, data: st.DataObject) -> None:
        with TemporaryDirectory() as folder:
            path = save(Run(Path(folder), Recipe()), 1)
            damaged = bytearray((path / name).read_bytes())
            damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= mask
            (path / name).write_bytes(damaged)
            with pytest.raises(CheckpointError, match=name):
                load_checkpoint(path)


class TestWhatIsRefused:
    @pytest.mark.parametrize("array", [np.array([None]), np.array(["a"]), np.ones(2, np.complex128)])
    def test_arrays_that_no_framework_trains(self, run: Run, array: Any) -> None:
        with pytest.raises(StoreError, match="A checkpoint cannot hold") as caught:
            save_checkpoint(run, 1, {"x": array}, {}, {})
        assert caught.value.at == "x"
        assert latest_checkpoint(run) is None

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), (1, 2), {1: "a"}, object(), np.float32(1)])
    def test_progress_that_would_come_back_changed(self, run: Run, value: Any) -> None:
        with pytest.raises(StoreError, match="which JSON does not give back") as caught:
            save_checkpoint(run, 1, {}, {}, {"best": value})
        assert caught.value.at == "best"
