from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from luthier.errors import StoreError
from luthier.store import whole_length
from luthier.store.tfrecord import OVERHEAD, boundary, framed, payloads

PAYLOADS = st.lists(st.binary(max_size=40), max_size=6)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records"


def write(path: Path, *records: bytes) -> bytes:
    data = b"".join(map(framed, records))
    path.write_bytes(data)
    return data


@settings(deadline=None)
@given(PAYLOADS)
def test_what_is_framed_is_read(records: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records"
        data = write(path, *records)
        assert list(payloads(path)) == records
        assert whole_length(path) == len(data) == sum(OVERHEAD + len(record) for record in records)


@settings(deadline=None)
@given(PAYLOADS, st.data())
def test_a_file_cut_anywhere_is_whole_up_to_its_last_whole_record(records: list[bytes], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records"
        written = write(path, *records)
        cut = data.draw(st.integers(0, len(written)))
        path.write_bytes(written[:cut])
        ends = [len(b"".join(map(framed, records[:count]))) for count in range(len(records) + 1)]
        assert whole_length(path) == max(end for end in ends if end <= cut)
        assert list(payloads(path)) == records[: sum(0 < end <= cut for end in ends)]


def test_zeros_after_the_last_record_are_what_a_power_cut_leaves(path: Path) -> None:
    data = write(path, b"one", b"two")
    path.write_bytes(data + bytes(4096))
    assert whole_length(path) == len(data)


def test_a_wrong_last_record_is_torn(path: Path) -> None:
    data = write(path, b"one", b"two")
    path.write_bytes(data[:-6] + bytes(6))
    assert whole_length(path) == len(framed(b"one"))


@pytest.mark.parametrize("position", [0, 9, 12, 15])
def test_damage_in_the_middle_is_named_and_not_cut_off(path: Path, position: int) -> None:
    damaged = bytearray(write(path, b"one", b"two", b"three"))
    damaged[len(framed(b"one")) + position] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="wrong checksum in the record at byte 19") as caught:
        whole_length(path)
    assert caught.value.at == str(path)
    with pytest.raises(StoreError, match="wrong checksum"):
        list(payloads(path))


def test_only_the_end_of_a_record_is_a_boundary(path: Path) -> None:
    data = write(path, b"one", b"two")
    assert [length for length in range(len(data) + 2) if boundary(path, length)] == [0, 19, 38]
