from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.data.unpickling import unpickle
from luthier.errors import DataError


class Runs:
    """Calls a function as it is unpickled."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_bytes_and_lists_come_back(tmp_path: Path, protocol: int) -> None:
    content: dict[str, Any] = {
        "data": np.arange(12, dtype=np.uint8).reshape(3, 4),
        "labels": [1, 2],
        "name": b"\x80a",
        "left": (1, None),
    }
    (tmp_path / "file").write_bytes(pickle.dumps(content, protocol=protocol))
    read = unpickle(tmp_path / "file")
    np.testing.assert_array_equal(read.pop("data"), content.pop("data"))
    assert read == content


def test_a_pickle_of_python_2_is_read_as_the_publisher_wrote_it(tmp_path: Path) -> None:
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b\x87Rq\x05(K\x01K\x02K\x03\x86"
        b"cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        b"U\x06\x00\x01\x02\x80\xfe\xfftb"
    )
    (tmp_path / "file").write_bytes(b"\x80\x02}q\x01(U\x06labelsq\x02]q\x08(K\x06K\x09eU\x04data" + array + b"u.")
    read = unpickle(tmp_path / "file")
    assert read["labels"] == [6, 9]
    assert read["data"].tolist() == [[0, 1, 2], [128, 254, 255]]
    assert read["data"].dtype == np.uint8


def test_arrays_of_objects_and_of_other_lengths_than_their_shape_says_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(pickle.dumps({"data": np.array([None])}, protocol=2))
    with pytest.raises(DataError, match="it has an array of type O8"):
        unpickle(tmp_path / "file")
    whole = pickle.dumps({"data": np.zeros(9, np.uint8)}, protocol=2)
    (tmp_path / "file").write_bytes(whole.replace(b"K\x09\x85", b"K\x0a\x85"))
    with pytest.raises(DataError, match=r"shape \(10,\) has 9 bytes"):
        unpickle(tmp_path / "file")


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(os.mkdir, ("made",)), (eval, ("1",)), (getattr, ("text", "upper")), (np.loadtxt, ("made",))],
)
def test_nothing_in_a_pickle_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: int, function: Any, arguments: tuple[Any, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(pickle.dumps({"data": Runs(function, *arguments)}, protocol=protocol))
    with pytest.raises(DataError, match="it asks for"):
        unpickle(tmp_path / "file")
    assert not (tmp_path / "made").exists()


def test_other_codecs_than_python_3_needs_for_bytes_are_refused(tmp_path: Path) -> None:
    import codecs

    (tmp_path / "file").write_bytes(pickle.dumps({"data": Runs(codecs.encode, "text", "rot13")}, protocol=2))
    with pytest.raises(DataError, match="bytes encoded as rot13"):
        unpickle(tmp_path / "file")


def test_a_pickle_cut_anywhere_is_refused_by_name(tmp_path: Path) -> None:
    whole = pickle.dumps({"data": np.arange(9, dtype=np.uint8), "labels": [1]}, protocol=2)
    for length in range(len(whole)):
        (tmp_path / "file").write_bytes(whole[:length])
        with pytest.raises(DataError) as caught:
            unpickle(tmp_path / "file")
        assert caught.value.at == str(tmp_path / "file")


def test_a_pickle_with_any_byte_changed_is_read_or_refused_by_name(tmp_path: Path) -> None:
    whole = pickle.dumps({"data": np.arange(9, dtype=np.uint8), "labels": [1]}, protocol=2)
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x15
        (tmp_path / "file").write_bytes(changed)
        try:
            unpickle(tmp_path / "file")
        except DataError as error:
            assert error.at == str(tmp_path / "file")  # noqa: PT017 (most changes are harmless)
