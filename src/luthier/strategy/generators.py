"""Python's and NumPy's own generators, which a user's network, data or listener may draw from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["generator_states", "generators_kept", "seed_generators", "set_generator_states"]

WORDS = 625  # of a Mersenne Twister: its 624 and its place among them
LENGTH = WORDS + 2  # and whether a normal number is left over, and which: float64 holds all of them exactly


def seed_generators(seed: int) -> None:
    """Both begin anew."""
    random.seed(seed)
    np.random.seed(seed)


def generator_states() -> dict[str, NDArray[np.float64]]:
    """`python` and `numpy`, as numbers: a checkpoint holds no pickle. A generator of another kind has none."""
    _, words, left = random.getstate()
    states = {"python": np.array([*words, left is not None, left or 0.0], np.float64)}
    found: Any = np.random.get_state(legacy=False)
    if found["bit_generator"] == "MT19937":
        place = found["state"]
        states["numpy"] = np.array([*place["key"], place["pos"], found["has_gauss"], found["gauss"]], np.float64)
    return states


def set_generator_states(states: Mapping[str, NDArray[Any]]) -> None:
    """Put back what is there; a checkpoint of an older version has neither."""
    python, numpy = (np.asarray(states[name]) if name in states else None for name in ("python", "numpy"))
    if python is not None and python.shape == (LENGTH,):
        words = tuple(int(word) for word in python[:WORDS])
        random.setstate((3, words, float(python[-1]) if python[-2] else None))
    if numpy is not None and numpy.shape == (LENGTH,):
        key, place, has, left = numpy[: WORDS - 1], numpy[WORDS - 1], numpy[-2], numpy[-1]
        np.random.set_state(("MT19937", key.astype(np.uint32), int(place), int(has), float(left)))


@contextmanager
def generators_kept() -> Iterator[None]:
    """Whatever is drawn inside the block was not drawn afterwards."""
    python, numpy = random.getstate(), np.random.get_state(legacy=False)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
