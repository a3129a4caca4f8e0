from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import crc32c as tensorboards
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from luthier.store.crc32c import LANE, LONG, crc32c, masked


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (b"", 0),
    ],
)
def test_it_is_the_checksum_of_rfc_3720(data: bytes, expected: int) -> None:
    assert crc32c(data) == expected


@given(st.binary(max_size=200))
def test_short_data_agrees_with_tensorboard(data: bytes) -> None:
    assert crc32c(data) == tensorboards(data)
    assert masked(data) == masked_crc32c(data)


@pytest.mark.parametrize("size", [LONG - 1, LONG, LONG + 1, LONG + LANE - 1, 5 * LONG, 100_003])
def test_lanes_agree_with_tensorboard(size: int) -> None:
    data = bytes(index * index % 251 for index in range(size))
    assert crc32c(data) == tensorboards(data)
