from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader, LegacyEventFileLoader
from tensorboard.util.tensor_util import make_ndarray

from luthier.errors import StoreError
from luthier.store import EventWriter, Run, read_events, whole_length

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.out.tfevents.1790000000.host.luthier"


def tensorboard(path: Path) -> Any:
    accumulator = EventAccumulator(str(path.parent), size_guidance={"scalars": 0, "histograms": 0, "images": 0})
    return accumulator.Reload()


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """What TensorBoard's page sees: each value after its own conversion to today's form."""
    for event in EventFileLoader(str(path)).Load():
        for value in event.summary.value:
            yield event.step, value


class TestWhatTensorBoardReads:
    def test_scalars_have_their_steps_times_and_values(self, path: Path) -> None:
        with EventWriter(path) as events:
            for step in range(100):
                events.scalar("train/loss", 1 / (step + 1), step, wall_time=1000.0 + step)
        read = tensorboard(path).Scalars("train/loss")
        assert [(point.step, point.wall_time) for point in read] == [(step, 1000.0 + step) for step in range(100)]
        assert [point.value for point in read] == [float(np.float32(1 / (step + 1))) for step in range(100)]
        assert {value.metadata.plugin_data.plugin_name for _, value in values(path)} == {"scalars"}

    def test_scalars_that_are_not_finite_stay_so(self, path: Path) -> None:
        with EventWriter(path) as events:
            for step, value in enumerate((math.nan, math.inf, -math.inf, 1e300)):
                events.scalar("loss", value, step)
        nan, *infinite = [point.value for point in tensorboard(path).Scalars("loss")]
        assert math.isnan(nan)
        assert infinite == [math.inf, -math.inf, math.inf]

    def test_names_of_any_script_and_late_steps_come_back(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.scalar("训练/损失", 0.5, 2**40)
        assert [point.step for point in tensorboard(path).Scalars("训练/损失")] == [2**40]

    def test_histograms_have_the_arrays_sum_and_count(self, path: Path) -> None:
        weights = np.random.default_rng(1).normal(size=(120, 400)).astype(np.float32)
        with EventWriter(path) as events:
            events.histogram("fc1.weight", weights, 7)
        [read] = tensorboard(path).Histograms("fc1.weight")
        exact = weights.astype(np.float64)
        found = read.histogram_value
        assert (read.step, found.num, found.min, found.max) == (7, weights.size, exact.min(), exact.max())
        assert found.sum == pytest.approx(exact.sum())
        assert found.sum_squares == pytest.approx(np.square(exact).sum())
        assert sum(found.bucket) == weights.size
        [(_, value)] = values(path)
        buckets = make_ndarray(value.tensor)
        assert buckets[:, 2].sum() == weights.size
        assert np.all(buckets[:, 0] <= buckets[:, 1])

    @pytest.mark.parametrize("weights", [np.zeros(0), np.full(3, np.nan), np.full(5, 2.5), np.array([1.0, np.inf])])
    def test_histograms_of_nothing_and_of_one_value_are_read_too(self, path: Path, weights: Any) -> None:
        with EventWriter(path) as events:
            events.histogram("w", weights, 1)
        [read] = tensorboard(path).Histograms("w")
        assert read.histogram_value.num == np.isfinite(weights).sum()
        assert [make_ndarray(value.tensor).shape[1] for _, value in values(path) if value.tag == "w"] == [3]

    def test_weights_that_are_not_finite_are_counted_under_their_name(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.histogram("conv1.weight", np.array([1.0, np.nan, np.nan, -np.inf]), 3)
            events.histogram("conv1.weight", np.ones(4), 4)
        read = tensorboard(path)
        assert [(point.step, point.value) for point in read.Scalars("conv1.weight/nan")] == [(3, 2.0)]
        assert [point.value for point in read.Scalars("conv1.weight/negative-infinity")] == [1.0]
        assert read.Tags()["scalars"] == ["conv1.weight/nan", "conv1.weight/negative-infinity"]

    @pytest.mark.parametrize("shape", [(8, 6), (8, 6, 1), (8, 6, 3), (8, 6, 4)])
    def test_images_decode_to_the_same_pixels(self, path: Path, shape: tuple[int, ...]) -> None:
        pixels = np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8)
        with EventWriter(path) as events:
            events.image("samples/0", pixels[::-1][::-1], 1)
        [read] = tensorboard(path).Images("samples/0")
        assert (read.height, read.width) == shape[:2]
        decoded = np.asarray(Image.open(io.BytesIO(read.encoded_image_string)))
        assert np.array_equal(decoded.reshape(shape), pixels)
        [(_, value)] = values(path)
        assert value.metadata.plugin_data.plugin_name == "images"

    def test_a_mirrored_view_of_an_image_is_stored_mirrored(self, path: Path) -> None:
        pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        with EventWriter(path) as events:
            events.image("mirrored", pixels[:, ::-1], 1)
        [read] = tensorboard(path).Images("mirrored")
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(read.encoded_image_string))), pixels[:, ::-1])

    def test_texts_reach_the_text_page(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.text("recipe", "学习率 = 0.01\n", 0)
        [(_, value)] = values(path)
        assert value.metadata.plugin_data.plugin_name == "text"
        assert make_ndarray(value.tensor).item().decode() == "学习率 = 0.01\n"

    @pytest.mark.parametrize(
        "array",
        [
            np.float64(np.pi),
            np.arange(6, dtype=np.int64).reshape(2, 3).T,
            np.array([True, False]),
            np.zeros((0, 3), np.float32),
            np.arange(3, dtype=np.float16),
            np.arange(3, dtype=">f4"),
            np.array([2**63], np.uint64),
        ],
    )
    def test_tensors_come_back_to_the_bit(self, path: Path, array: Any) -> None:
        with EventWriter(path) as events:
            events.tensor("logits", array, 1)
        [read] = tensorboard(path).Tensors("logits")
        back = make_ndarray(read.tensor_proto)
        assert back.shape == np.shape(array)
        assert back.dtype == np.asarray(array).dtype.newbyteorder("=")
        assert np.array_equal(back, array)

    def test_the_file_says_who_wrote_it_in_which_format(self, path: Path) -> None:
        EventWriter(path).close()
        [first] = LegacyEventFileLoader(str(path)).Load()
        assert (first.file_version, first.source_metadata.writer) == ("brain.Event:2", "luthier")


class TestResuming:
    def test_a_flush_returns_the_length_on_disk(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.scalar("loss", 1.0, 1)
            assert events.flush() == path.stat().st_size == whole_length(path)

    def test_the_recorded_length_brings_back_that_moment(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.scalar("loss", 1.0, 1)
            length = events.flush()
            events.scalar("loss", 9.0, 2)
        with EventWriter(path, length=length) as events:
            events.scalar("loss", 2.0, 2)
        assert list(read_events(path)) == [(1, "loss", 1.0), (2, "loss", 2.0)]
        assert [point.value for point in tensorboard(path).Scalars("loss")] == [1.0, 2.0]

    def test_without_a_length_everything_that_is_whole_stays(self, path: Path) -> None:
        for step in (1, 2):
            with EventWriter(path) as events:
                events.scalar("loss", 1.0, step)
        assert [step for step, _, _ in read_events(path)] == [1, 2]

    def test_a_removed_file_is_begun_anew(self, path: Path) -> None:
        with EventWriter(path, length=12_345) as events:
            events.scalar("loss", 1.0, 5)
        assert list(read_events(path)) == [(5, "loss", 1.0)]

    @pytest.mark.parametrize("length", [1, 10_000])
    def test_a_length_at_which_no_record_ends_is_refused_and_nothing_is_cut(self, path: Path, length: int) -> None:
        EventWriter(path).close()
        before = path.read_bytes()
        with pytest.raises(StoreError, match=f"no record ends at byte {length:,}") as caught:
            EventWriter(path, length=length)
        assert caught.value.hint is not None
        assert path.read_bytes() == before

    def test_a_file_cut_at_any_byte_reopens_whole(self, path: Path) -> None:
        with EventWriter(path) as events:
            ends = [events.flush()]
            for step in range(4):
                events.scalar("loss", step, step, wall_time=float(step))
                ends.append(events.flush())
        written = path.read_bytes()
        for cut in range(len(written)):
            path.write_bytes(written[:cut])
            with EventWriter(path) as events:
                events.scalar("loss", 99.0, 99)
            kept = sum(end <= cut for end in ends[1:])
            assert list(read_events(path)) == [*((step, "loss", step) for step in range(kept)), (99, "loss", 99.0)]
            assert whole_length(path) == path.stat().st_size

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.text(max_size=8), st.floats(width=32, allow_nan=False)), max_size=5), st.data())
    def test_a_cut_and_a_resume_leave_a_prefix_and_the_rest(
        self, points: list[tuple[str, float]], data: st.DataObject
    ) -> None:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "events"
            with EventWriter(path) as events:
                for step, (tag, value) in enumerate(points):
                    events.scalar(tag, value, step)
            path.write_bytes(path.read_bytes()[: data.draw(st.integers(0, path.stat().st_size))])
            with EventWriter(path) as events:
                kept = len(list(read_events(path)))
                for step, (tag, value) in list(enumerate(points))[kept:]:
                    events.scalar(tag, value, step)
            assert list(read_events(path)) == [(step, tag, value) for step, (tag, value) in enumerate(points)]

    def test_damage_in_the_middle_is_refused(self, path: Path) -> None:
        with EventWriter(path) as events:
            events.scalar("loss", 1.0, 1)
            events.scalar("loss", 1.0, 2)
        damaged = bytearray(path.read_bytes())
        damaged[20] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match="wrong checksum in the record at byte 0"):
            EventWriter(path)


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        "pixels",
        [np.zeros((4, 4, 3), np.float32), np.zeros((4, 4, 2), np.uint8), np.zeros((0, 4, 3), np.uint8)],
    )
    def test_an_image_of_another_form(self, path: Path, pixels: Pixels) -> None:
        with EventWriter(path) as events, pytest.raises(StoreError, match="Expected an image as uint8") as caught:
            events.image("samples/0", pixels, 1)
        assert caught.value.at == "samples/0"

    def test_a_tensor_of_objects(self, path: Path) -> None:
        with EventWriter(path) as events, pytest.raises(StoreError, match="Cannot record a tensor of object"):
            events.tensor("objects", np.array([None]), 1)

    def test_a_record_after_the_end(self, path: Path) -> None:
        events = EventWriter(path)
        events.close()
        events.close()
        with pytest.raises(StoreError, match="closed"):
            events.scalar("loss", 1.0, 1)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="Could not write events: No such file or directory"):
            EventWriter(tmp_path / "nowhere" / "events")


def test_a_run_has_one_event_file(run: Run) -> None:
    with EventWriter(run.event_file()) as events:
        events.scalar("loss", 1.0, 1)
    (run.path / "events.out.tfevents.1.other").touch()
    with EventWriter(run.event_file()) as events:
        events.scalar("loss", 1.0, 2)
    assert [step for step, _, _ in read_events(run.event_file())] == [1, 2]
    assert "tfevents" in run.event_file().name
