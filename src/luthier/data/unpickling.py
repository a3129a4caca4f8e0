"""Pickled arrays without what else a pickle can do: run code.

The publisher's Python layout of CIFAR is a pickle. Its dictionaries, lists, numbers and bytes need no imports; its
arrays need four names, which here are stand-ins that take a shape, a type and bytes. NumPy's own are not safe to call
with what a stranger wrote: a type's pickled flags can make it read bytes as pointers. Every other name is refused
before it is looked up.
"""

from __future__ import annotations

import pickle
import struct
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from luthier.errors import DataError

__all__ = ["unpickle"]

NUMBERS = {"u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"}
DAMAGE = (  # what the unpickler raises, by the place where the bytes are wrong
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    MemoryError,
    struct.error,
)


class PickledType:
    """A number's type, by its code and byte order alone."""

    def __init__(self, code: str | bytes, *_: object) -> None:
        self.code = _text(code)
        if self.code not in NUMBERS:
            raise pickle.UnpicklingError(f"it has an array of type {self.code}")
        self.order = "|"

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self.order = _text(state[1])

    def read(self, content: bytes, shape: tuple[int, ...], order: str) -> np.ndarray[Any, np.dtype[Any]]:
        """The array, whose bytes must be as many as its shape says."""
        dtype = np.dtype(self.order + self.code)
        if len(content) != prod(shape) * dtype.itemsize:
            raise pickle.UnpicklingError(f"an array of shape {shape} has {len(content):,} bytes")
        return np.frombuffer(content, dtype).reshape(shape, order="F" if order == "F" else "C")


class PickledArray:
    """An array of the protocols up to 4: made empty, then given its state."""

    array: np.ndarray[Any, np.dtype[Any]] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, by_columns, content = state
        self.array = dtype.read(content, shape, "F" if by_columns else "C")


def _reconstruct(*_: object) -> PickledArray:
    return PickledArray()


def _frombuffer(content: bytes, dtype: PickledType, shape: tuple[int, ...], order: str) -> PickledArray:
    """An array of protocol 5."""
    made = PickledArray()
    made.array = dtype.read(bytes(content), shape, order)
    return made


def _latin1(text: str, encoding: str) -> bytes:
    """Python 3 writes bytes so in the old protocols."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it has bytes encoded as {encoding}")
    return text.encode("latin1")


def _text(value: object) -> str:
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


STAND_INS: dict[tuple[str, str], Any] = {
    **{(f"{core}.multiarray", "_reconstruct"): _reconstruct for core in ("numpy.core", "numpy._core")},
    **{(f"{core}.numeric", "_frombuffer"): _frombuffer for core in ("numpy.core", "numpy._core")},
    ("numpy", "ndarray"): PickledArray,
    ("numpy", "dtype"): PickledType,
    ("_codecs", "encode"): _latin1,
}


class ArraysOnly(pickle.Unpickler):
    """Knows arrays and nothing else by name."""

    def find_class(self, module: str, name: str) -> Any:
        """Called for every name in the pickle."""
        if (module, name) not in STAND_INS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return STAND_INS[module, name]


def unpickle(path: Path) -> dict[str, Any]:
    """The dictionary in a file, its keys as text."""
    try:
        with path.open("rb") as file:
            content = ArraysOnly(file, encoding="bytes").load()
    except DAMAGE as error:
        raise DataError(
            f"Not a pickle of arrays alone ({path.stat().st_size:,} bytes): {error}",
            at=str(path),
            hint="It may be half downloaded; fetch or unpack the set again.",
        ) from error
    if not isinstance(content, dict):
        raise DataError(f"Expected a dictionary, got {type(content).__name__}", at=str(path))
    return {_text(key): value.array if isinstance(value, PickledArray) else value for key, value in content.items()}
