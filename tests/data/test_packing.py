"""What is packed is what comes back, with either reader; and a pack is there whole or not at all."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from luthier.data import Batch, Pictures, Source, arrays, open_data, open_source, pack
from luthier.data.batch import Images
from luthier.data.mindrecord.layout import Column, Schema
from luthier.data.mindrecord.netpbm import head, shape_and_start
from luthier.data.mindrecord.writing import ShardWriter, Sizes
from luthier.errors import DataError
from luthier.recipe import CenterCrop, Data, RandomCrop, RandomFlip, RandomResizedCrop, Resize
from tests.cli.calling import luthier

Make = Callable[..., Source]
with_mindspore = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")


def reopened(folder: Path) -> Source:
    return open_source("mindrecord", path=str(folder))


def pixels(source: Source, split: str) -> Images:
    images = source.part(split).images
    assert isinstance(images, np.ndarray)
    return images


def rows_of(file: Path, *, decode: bool = True) -> list[dict[str, Any]]:
    """As MindSpore's own data set reads them."""
    from mindspore import dataset

    rows = dataset.MindDataset(str(file), shuffle=False)
    if decode:
        rows = rows.map(dataset.vision.Decode(), "image")
    return list(rows.create_dict_iterator(num_epochs=1, output_numpy=True))


def epoch(config: Data, source: Source) -> list[Batch]:
    with open_data(config, seed=1, source=source) as data:
        return [*data.train.epoch(2), *data.eval.epoch(0)]


def assert_same(batches: list[Batch], others: list[Batch]) -> None:
    for batch, other in zip(batches, others, strict=True):
        np.testing.assert_array_equal(batch.images, other.images)
        np.testing.assert_array_equal(batch.labels, other.labels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("shards", [1, 3, 11])
def test_arrays_come_back_with_every_byte(numbered: Make, tmp_path: Path, channels: int, shards: int) -> None:
    source = numbered(shape=(7, 5, channels))
    assert pack(source, tmp_path / "set.mindrecord", shards=shards) == tmp_path / "set.mindrecord"
    again = reopened(tmp_path / "set.mindrecord")
    assert (again.name, again.classes) == (source.name, source.classes)
    for split in ("train", "eval"):
        np.testing.assert_array_equal(pixels(again, split), pixels(source, split))
        np.testing.assert_array_equal(again.part(split).labels, source.part(split).labels)


def test_class_folders_keep_their_files_bytes_and_names(class_folders: Path, tmp_path: Path) -> None:
    source = open_source("folder", path=str(class_folders))
    again = reopened(pack(source, tmp_path / "pets.mindrecord", shards=2))
    assert (again.name, again.classes) == ("pets", ("cat", "dog"))
    for split in ("train", "eval"):
        theirs, ours = again.part(split).images, source.part(split).images
        assert not isinstance(theirs, np.ndarray)
        assert not isinstance(ours, np.ndarray)
        assert [theirs.content(index) for index in range(len(theirs))] == [
            (class_folders / split / ours.name(index)).read_bytes() for index in range(len(ours))
        ]
        assert [theirs.name(index) for index in range(len(theirs))] == [ours.name(index) for index in range(len(ours))]
        np.testing.assert_array_equal(again.part(split).labels, source.part(split).labels)
    packed_again = reopened(pack(again, tmp_path / "again.mindrecord"))
    assert isinstance(packed_again.train.images, type(again.train.images))


def test_training_from_a_pack_sees_what_training_from_the_set_sees(
    numbered: Make, class_folders: Path, tmp_path: Path
) -> None:
    source = numbered()
    config = Data(batch_size=8, train=(RandomCrop(padding=1), RandomFlip()))
    assert_same(epoch(config, reopened(pack(source, tmp_path / "a", shards=3))), epoch(config, source))
    pets = open_source("folder", path=str(class_folders))
    config = Data(batch_size=4, train=(RandomResizedCrop(size=12),), eval=(Resize(size=14), CenterCrop(size=12)))
    assert_same(epoch(config, reopened(pack(pets, tmp_path / "b", shards=3))), epoch(config, pets))


@pytest.mark.parametrize("engine", ["torch", pytest.param("mindspore", marks=with_mindspore)])
def test_either_engine_trains_from_a_pack_to_the_bits_of_the_set_itself(tmp_path: Path, engine: str) -> None:
    from luthier.recipe import load
    from luthier.training import train

    pack("digits", tmp_path / "digits.mindrecord", shards=2)
    settings = ["strategy.steps=3", "score.runs=1", f"engine={engine}", "mode=eager", "device=cpu"]
    packed = ["data.name=mindrecord", f"data.path={tmp_path / 'digits.mindrecord'}"]
    weights = [
        (train(load("lenet5-digits", [*settings, *more]), out=tmp_path / "runs").path / "checkpoints")
        for more in ([], packed)
    ]
    first, second = (next(folder.glob("step-*/weights.safetensors")).read_bytes() for folder in weights)
    assert first == second


class TestMindSpore:
    """The files are its own format: its readers are the judges."""

    pytestmark = with_mindspore

    @pytest.mark.parametrize("shards", [1, 3, 11])
    def test_its_data_set_reads_every_row_in_order(self, numbered: Make, tmp_path: Path, shards: int) -> None:
        source = numbered(shape=(7, 5, 3))
        folder = pack(source, tmp_path / "set.mindrecord", shards=shards)
        for split in ("train", "eval"):
            first = min(path for path in folder.glob(f"{split}.*") if path.suffix != ".db")
            rows, part = rows_of(first), source.part(split)
            np.testing.assert_array_equal(np.stack([row["image"] for row in rows]), pixels(source, split))
            assert [int(row["label"]) for row in rows] == part.labels.tolist()
            assert {row["label"].dtype.name for row in rows} == {"int32"}

    def test_its_data_set_reads_class_folders_as_they_were(self, class_folders: Path, tmp_path: Path) -> None:
        folder = pack("folder", tmp_path / "pets.mindrecord", path=str(class_folders))
        rows = rows_of(folder / "train.mindrecord")
        assert [str(row["file"]) for row in rows] == [
            f"{name}/{number}.png" for name in ("cat", "dog") for number in range(6)
        ]
        for row in rows:
            with Image.open(class_folders / "train" / str(row["file"])) as picture:
                np.testing.assert_array_equal(row["image"], np.asarray(picture))

    def test_its_other_readers_find_rows_by_place_and_by_label(self, tmp_path: Path) -> None:
        from mindspore.mindrecord import FileReader, MindPage

        file = pack("digits", tmp_path / "digits.mindrecord", shards=2) / "train.mindrecord0"
        labels = open_source("digits").train.labels
        reader = FileReader(str(file))
        assert [row["label"] for row in reader.get_next()] == labels.tolist()
        reader.close()
        pages = MindPage(str(file))
        pages.category_field = "label"
        assert len(pages.read_at_page_by_id(3, 0, 2000)) == (labels == 3).sum()

    @pytest.mark.parametrize("seed", range(3))
    def test_rows_of_any_size_fill_pages_that_it_can_read(self, tmp_path: Path, seed: int) -> None:
        """Blobs of a few bytes, whose raw data fills its page first, and blobs of almost a page."""
        from mindspore.mindrecord import FileReader

        draw = np.random.default_rng(seed)
        rows = [
            (
                int(draw.integers(1000)),
                draw.bytes(int(draw.choice([1, 90, 3000, 32_000]))),
                "n" * int(draw.integers(90)),
            )
            for _ in range(3000 if seed else 400)
        ]
        if seed == 2:
            rows = [(label, image[:1], name) for label, image, name in rows]
        write(tmp_path / "rows.mindrecord", rows)
        reader = FileReader(str(tmp_path / "rows.mindrecord"))
        read = [(row["label"], bytes(row["image"]), str(row["file"])) for row in reader.get_next()]
        reader.close()
        assert read == rows

    def test_what_it_writes_itself_is_read(self, tmp_path: Path) -> None:
        """Several blobs to a row, the image in `data`, no word of the classes."""
        for split, count in (("train", 7), ("val", 3)):
            write_theirs(tmp_path / f"{split}.mindrecord", count)
        source = reopened(tmp_path)
        assert source.classes == tuple("0123456")
        assert source.train.labels.tolist() == list(range(7))
        pictures = source.eval.images
        assert not isinstance(pictures, np.ndarray)
        assert [pictures.size(index) for index in range(3)] == [(3, 4)] * 3
        assert [np.asarray(pictures.picture(index)).max() for index in range(3)] == [0, 1, 2]


def write(file: Path, rows: list[tuple[int, bytes, str]]) -> None:
    columns = {"image": Column(type="bytes"), "label": Column(type="int32"), "file": Column(type="string")}
    lengths = [len(image) for _, image, _ in rows]
    sizes = Sizes.of(rows=len(rows), total=sum(lengths), largest=max(lengths), said=1000)
    schema = Schema(schema=columns, blob_fields=("image",))
    with ShardWriter(file.parent, (file.name,), 0, schema=schema, sizes=sizes) as writer:
        for label, image, name in rows:
            writer.add(label, image, file=name)


def write_theirs(file: Path, count: int, label: str = "int32") -> None:
    from mindspore.mindrecord import FileWriter

    rows = []
    for number in range(count):
        png = io.BytesIO()
        Image.new("RGB", (4, 3), (number, 0, 0)).save(png, "PNG")
        rows.append({"id": number, "box": np.arange(4, dtype=np.int32), "data": png.getvalue(), "label": number})
    schema = {"id": "int64", "box": "int32", "data": "bytes", "label": label}
    fields = {name: {"type": kind, **({"shape": [-1]} if name == "box" else {})} for name, kind in schema.items()}
    writer = FileWriter(str(file), shard_num=2)
    writer.add_schema(fields, "theirs")
    writer.write_raw_data(rows)
    writer.commit()


@given(shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)))
def test_a_head_tells_the_shape_of_the_pixels_behind_it(shape: tuple[int, int, int]) -> None:
    pixels = bytes(shape[0] * shape[1] * shape[2])
    assert shape_and_start(head(shape) + pixels) == (shape, len(head(shape)))
    assert shape_and_start(head(shape) + pixels + b"\0") is None


@given(st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.binary(max_size=40)), min_size=1, max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
def test_any_rows_come_back(tmp_path: Path, rows: list[tuple[int, bytes]]) -> None:
    from luthier.data.mindrecord.opening import open_shards

    shutil.rmtree(tmp_path / "any", ignore_errors=True)
    (tmp_path / "any").mkdir()
    write(tmp_path / "any" / "rows.mindrecord", [(label, image, "名") for label, image in rows])
    records: Pictures = open_shards(tmp_path / "any" / "rows.mindrecord")
    assert [records.content(index) for index in range(len(rows))] == [image for _, image in rows]
    assert {records.name(index) for index in range(len(rows))} == {"名"}


class TestWholeOrNotAtAll:
    def test_what_is_there_is_not_overwritten(self, tmp_path: Path) -> None:
        (tmp_path / "mine").write_text("mine")
        with pytest.raises(DataError, match="There is something already"):
            pack("digits", tmp_path / "mine")
        assert (tmp_path / "mine").read_text() == "mine"

    def test_an_image_that_cannot_be_read_leaves_nothing(self, class_folders: Path, tmp_path: Path) -> None:
        source = open_source("folder", path=str(class_folders))
        (class_folders / "eval" / "dog" / "1.png").unlink()
        with pytest.raises(DataError, match="Could not read the image file") as caught:
            pack(source, tmp_path / "pets.mindrecord")
        assert caught.value.at == str(class_folders / "eval" / "dog" / "1.png")
        assert os.listdir(tmp_path) == ["pets"]

    def test_an_interrupt_leaves_nothing(self, tmp_path: Path) -> None:
        def interrupt(split: str, done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pack("digits", tmp_path / "digits.mindrecord", progress=interrupt)
        assert os.listdir(tmp_path) == []

    @pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
    def test_a_kill_leaves_no_pack_and_the_next_one_sweeps_up(self, tmp_path: Path) -> None:
        code = f"""
import os
from luthier.data import pack
pack("digits", {str(tmp_path / "d")!r}, progress=lambda split, *_: os.kill(os.getpid(), 9) if split == "eval" else None)
"""
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
        assert os.listdir(tmp_path) == [".d.partial"]
        pack("digits", tmp_path / "d")
        assert os.listdir(tmp_path) == ["d"]

    def test_a_folder_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError, match="Could not write the files: Not a directory") as caught:
            pack("digits", tmp_path / "file" / "digits.mindrecord")
        assert caught.value.at == str(tmp_path / "file" / "digits.mindrecord")

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of a process")
    @pytest.mark.parametrize("where", ["rows", "index"])
    def test_a_disk_that_is_full_leaves_nothing(self, tmp_path: Path, where: str) -> None:
        code = f"""
import resource
from luthier.data import pack
from luthier.data.mindrecord import writing
from luthier.errors import DataError
index_of = writing.index_of
def fill(path=None):
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    return path and index_of(path)
fill() if {where!r} == "rows" else setattr(writing, "index_of", fill)
try:
    pack("digits", {str(tmp_path / "d")!r})
except DataError as error:
    print(error.sentence)
"""
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert done.stdout.startswith("Could not write the files: ")
        assert os.listdir(tmp_path) == []

    def test_progress_is_told_of_every_part_to_its_end(self, tmp_path: Path) -> None:
        told: list[tuple[str, int, int]] = []
        pack("digits", tmp_path / "d", shards=3, progress=lambda *step: told.append(step))
        assert [step for step in told if step[1] == step[2]] == [("train", 1437, 1437), ("eval", 360, 360)]


class TestMistakes:
    @pytest.mark.parametrize("shards", [0, 1001])
    def test_a_number_of_shards_that_no_set_has(self, tmp_path: Path, shards: int) -> None:
        with pytest.raises(DataError, match="Expected from 1 to 1,000 shards"):
            pack("digits", tmp_path / "d", shards=shards)

    def test_more_shards_than_images(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="at most 360 shards, one an image of the eval part, got 361"):
            pack("digits", tmp_path / "d", shards=361)

    def test_the_command_says_where_it_wrote_and_what_it_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        said = luthier("data", "pack", "digits", "-o", "d.mindrecord", "--shards", "4")
        assert (said.code, said.out) == (0, "d.mindrecord\n")
        assert len(list((tmp_path / "d.mindrecord").iterdir())) == 16
        again = luthier("data", "pack", "digits", "-o", "d.mindrecord")
        assert (again.code, again.out) == (2, "")
        assert (
            again.err == "error: There is something already - at d.mindrecord\n  Remove it, or name another output.\n"
        )
        assert luthier("data", "show", "mindrecord", "--path", "d.mindrecord", "-o", "g.png").code == 0


def test_packing_and_reading_load_no_framework(tmp_path: Path) -> None:
    code = f"""
import sys
from luthier.data import open_source, pack
pack("digits", {str(tmp_path / "d")!r})
open_source("mindrecord", path={str(tmp_path / "d")!r})
print([name for name in ("torch", "mindspore") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_real_cifar10_comes_back(real_data: Path, tmp_path: Path) -> None:
    source = open_source("cifar10", root=real_data)
    again = reopened(pack(source, tmp_path / "cifar10.mindrecord", shards=4))
    assert again.classes == source.classes
    for split in ("train", "eval"):
        assert np.array_equal(pixels(again, split), pixels(source, split))
        assert np.array_equal(again.part(split).labels, source.part(split).labels)


def test_arrays_without_a_file_can_be_packed(tmp_path: Path) -> None:
    images = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    source = arrays(images, [0, 1], images, [1, 0], classes=["a", "b"], name="mine")
    assert reopened(pack(source, tmp_path / "m")).name == "mine"
