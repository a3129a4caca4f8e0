from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from luthier.store.protobuf import double, fields, float32, integer, message, varint

NUMBERS = st.integers(1, 1000)


@given(NUMBERS, st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.binary())
def test_what_is_encoded_is_decoded(number: int, whole: int, real: float, content: bytes) -> None:
    encoded = integer(number, whole) + double(number, real) + message(number, content)
    assert list(fields(encoded)) == [(number, whole % 2**64), (number, struct.pack("<d", real)), (number, content)]


def test_numbers_have_the_lengths_of_the_format() -> None:
    assert varint(0) == b"\0"
    assert varint(300) == b"\xac\x02"
    assert len(varint(-1)) == 10


@pytest.mark.parametrize(("value", "kept"), [(1e39, "inf"), (-1e300, "-inf"), (float("nan"), "nan"), (0.5, "0.5")])
def test_a_number_too_great_for_a_float_becomes_infinite(value: float, kept: str) -> None:
    [(_, packed)] = fields(float32(2, value))
    assert isinstance(packed, bytes)
    assert str(struct.unpack("<f", packed)[0]) == kept


@pytest.mark.parametrize("broken", [b"\x80", b"\x0a\x05ab", b"\x09\0", b"\x0b", b"\x08\xff"])
def test_a_broken_message_is_an_error(broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"ends beyond its message|Unknown wire type"):
        list(fields(broken))
