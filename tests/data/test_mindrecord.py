"""Files that are damaged, missing or of another kind: each is named, in one sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from luthier.data import Source, open_data, open_source, pack
from luthier.data.mindrecord.layout import LENGTH, Head, index_of
from luthier.errors import DataError
from luthier.recipe import Data, RandomResizedCrop
from tests.cli.calling import luthier

Make = Callable[..., Source]


@pytest.fixture
def packed(numbered: Make, tmp_path: Path) -> Path:
    """Fifty images in two files, of 8×8."""
    return pack(numbered(), tmp_path / "set.mindrecord", shards=2)


def refused(folder: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        open_source("mindrecord", path=str(folder))
    assert "\n" not in caught.value.sentence
    return caught.value


def head_of(file: Path) -> Head:
    content = file.read_bytes()
    (length,) = LENGTH.unpack_from(content)
    return msgspec.json.decode(content[8 : 8 + length], type=Head)


def replace_head(file: Path, head: Head) -> None:
    content = file.read_bytes()
    text = msgspec.json.encode(head)
    start = head_of(file).header_size
    file.write_bytes((LENGTH.pack(len(text)) + text).ljust(start, b"\0") + content[start:])


def change(file: Path, position: int, content: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(position)
        stream.write(content)


def ask(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(index_of(file))) as database, database:
        database.execute(statement)


def test_a_missing_path_a_missing_folder_and_a_file_are_refused(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"MindRecord files need their place - at data\.path"):
        open_source("mindrecord")
    assert "does not exist" in refused(tmp_path / "nowhere").sentence
    assert refused(packed / "train.mindrecord0").sentence.startswith("Expected the folder that holds")


def test_a_folder_without_a_part_is_told_what_is_wanted(packed: Path) -> None:
    for path in packed.glob("eval*"):
        path.unlink()
    error = refused(packed)
    assert error.sentence == "No MindRecord file eval.mindrecord or val.mindrecord was found"
    assert error.at == str(packed)


@pytest.mark.parametrize("name", ["train.mindrecord0", "eval.mindrecord1"])
def test_a_missing_shard_is_named(packed: Path, name: str) -> None:
    (packed / name).unlink()
    assert refused(packed).sentence == f"Of 2 MindRecord files 1 are missing: {name}"


def test_a_missing_index_is_named(packed: Path) -> None:
    (packed / "train.mindrecord1.db").unlink()
    error = refused(packed)
    assert error.sentence == "The index train.mindrecord1.db is missing beside the MindRecord file"
    assert error.at == str(packed / "train.mindrecord1")


@pytest.mark.parametrize("content", [b"", b"\x07", b"no record" * 9, LENGTH.pack(1 << 60), LENGTH.pack(40) + b"{" * 99])
def test_a_file_of_another_kind_is_named(packed: Path, content: bytes) -> None:
    (packed / "train.mindrecord0").write_bytes(content)
    error = refused(packed)
    assert error.sentence == "Not a MindRecord file that can be read"
    assert error.at == str(packed / "train.mindrecord0")


def test_an_index_of_another_kind_or_of_another_file_is_named(packed: Path) -> None:
    file = packed / "train.mindrecord1"
    index_of(file).write_bytes((packed / "train.mindrecord0.db").read_bytes())
    assert refused(packed).sentence == "The index belongs to train.mindrecord0, not to train.mindrecord1"
    index_of(file).write_bytes(b"no table" * 400)
    error = refused(packed)
    assert error.sentence.startswith("Not an index that can be read")
    assert error.at == str(index_of(file))


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_file_that_was_cut_short_is_named(packed: Path, share: float) -> None:
    file = packed / "train.mindrecord1"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    error = refused(packed)
    assert error.sentence.startswith("The MindRecord file is damaged: it ends at ")
    assert error.at == str(file)


def test_an_index_with_fewer_rows_than_the_file_is_refused(packed: Path) -> None:
    ask(packed / "train.mindrecord0", "DELETE FROM INDEXES WHERE ROW_ID = 7")
    assert refused(packed).sentence.endswith("damaged: it has 25 rows, and its index 24")


@pytest.mark.parametrize("column", ["PAGE_OFFSET_BLOB", "PAGE_OFFSET_RAW", "PAGE_OFFSET_BLOB_END", "PAGE_ID_RAW"])
@pytest.mark.parametrize("value", [-9_000_000, 3, 90_000_000])
def test_an_index_that_leads_elsewhere_is_refused(packed: Path, column: str, value: int) -> None:
    ask(packed / "train.mindrecord0", f"UPDATE INDEXES SET {column} = {value} WHERE ROW_ID = 7")
    assert "damaged" in refused(packed).sentence


def test_an_index_without_numbers_and_a_file_of_another_name_are_refused(packed: Path) -> None:
    ask(packed / "train.mindrecord0", "UPDATE INDEXES SET PAGE_ID_BLOB = 'x' WHERE ROW_ID = 7")
    assert refused(packed).sentence == "Not an index that can be read: it holds no whole numbers"
    (packed / "train.mindrecord0").rename(packed / "train.mindrecord")
    assert refused(packed).sentence.startswith("The MindRecord file says that it is one of train.mindrecord0, train.m")


def test_pixels_and_labels_that_are_overwritten_are_found(packed: Path) -> None:
    file = packed / "train.mindrecord0"
    head = head_of(file)
    change(file, head.header_size + head.page[0].page_size // 25 * 4, b"\0\0\0\0")
    assert "damaged: row 4 is not the pixels that it should be" in refused(packed).sentence
    change(file, head.header_size + head.page[1].page_id * head.page_size + 8, b"\xc1\xc1")
    assert "damaged: row 0 cannot be read" in refused(packed).sentence


def test_a_label_that_no_class_has_is_refused(packed: Path) -> None:
    for path in packed.glob("*.mindrecord?"):
        head = head_of(path)
        [schema] = head.schema
        text = schema.desc.replace('"3","4"', '"3"')
        replace_head(path, msgspec.structs.replace(head, schema=(msgspec.structs.replace(schema, desc=text),)))
    assert refused(packed).sentence == "Expected labels from 0 to 3, got 4 for image 4"


def test_columns_that_hold_no_images_or_no_labels_are_listed(packed: Path) -> None:
    for path in packed.glob("train.mindrecord?"):
        text = path.read_bytes().replace(b'"image":{"type":"bytes"}', b'"vector":{"type":"float32","shape":[3]}')
        (length,) = LENGTH.unpack_from(text)
        path.write_bytes(LENGTH.pack(length + 16 - 1) + text[8:])
    error = refused(packed)
    assert (
        error.sentence
        == "Expected the columns image (bytes) and label (int32), found vector (float32[3]), label (int32)"
    )


def test_the_parts_of_two_sets_are_refused(packed: Path, numbered: Make, tmp_path: Path) -> None:
    other = pack(numbered(classes=3), tmp_path / "other.mindrecord", shards=2)
    for path in other.glob("eval*"):
        path.replace(packed / path.name)
    assert refused(packed).sentence == "The files to train on and those to evaluate on are of two sets"


def test_an_image_that_cannot_be_decoded_is_named_with_the_file_it_was(class_folders: Path, tmp_path: Path) -> None:
    (class_folders / "train" / "dog" / "3.png").write_text("no image")
    folder = pack("folder", tmp_path / "pets.mindrecord", path=str(class_folders), shards=3)
    config = Data(name="mindrecord", path=str(folder), batch_size=4, train=(RandomResizedCrop(size=9),))
    config = msgspec.structs.replace(config, eval=config.train)
    with open_data(config, seed=1) as data, pytest.raises(DataError, match="Not an image that can be read") as caught:
        list(data.train.epoch(0))
    assert caught.value.at == f"{folder / 'train.mindrecord2'}, row 1 (dog/3.png)"
    with open_data(msgspec.structs.replace(config, on_error="skip"), seed=1) as data:
        assert sum(len(batch) for batch in data.train.epoch(0)) == 12
        assert data.skipped == 1


def test_files_of_one_size_need_no_transform(tmp_path: Path) -> None:
    for split in ("train", "eval"):
        for name in ("a", "b"):
            (tmp_path / "set" / split / name).mkdir(parents=True)
            Image.new("RGB", (10, 8), (9, 0, 0)).save(tmp_path / "set" / split / name / "1.png")
    folder = pack("folder", tmp_path / "m", path=str(tmp_path / "set"))
    with open_data(Data(name="mindrecord", path=str(folder), batch_size=2, train=()), seed=1) as data:
        assert data.shape == (8, 10, 3)
        assert np.asarray(next(data.train.epoch(0)).images)[..., 0].max() == 9


def test_the_command_line_says_it_in_one_sentence(packed: Path) -> None:
    (packed / "train.mindrecord0").unlink()
    said = luthier("train", "lenet5-digits", "--set", "data.name=mindrecord", "--set", f"data.path={packed}")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"error: Of 2 MindRecord files 1 are missing: train.mindrecord0 - at {packed}\n  Copy or pack the set again.\n"
    )
