"""Python's and NumPy's generators as arrays."""

from __future__ import annotations

import random

import numpy as np
import pytest

from luthier.strategy import generator_states, generators_kept, seed_generators, set_generator_states


def drawn() -> tuple[float, ...]:
    return random.random(), random.gauss(0, 1), np.random.random(), np.random.normal()


@pytest.mark.parametrize("before", range(3))
def test_a_state_gives_the_same_numbers_again(before: int) -> None:
    seed_generators(5)
    for _ in range(before):
        drawn()
    states = generator_states()
    assert {name: state.dtype for name, state in states.items()} == {"python": np.float64, "numpy": np.float64}
    first = [drawn() for _ in range(400)]
    set_generator_states(states)
    assert [drawn() for _ in range(400)] == first


def test_seeds_differ_and_repeat() -> None:
    seed_generators(1)
    one = drawn()
    seed_generators(2)
    assert drawn() != one
    seed_generators(1)
    assert drawn() == one


def test_what_is_drawn_in_a_block_was_not_drawn_after_it() -> None:
    seed_generators(1)
    first = drawn()
    seed_generators(1)
    with generators_kept():
        seed_generators(9)
    assert drawn() == first


def test_what_is_not_there_or_of_another_length_stays_as_it_is() -> None:
    seed_generators(1)
    set_generator_states({"python": np.zeros(3)})
    first = drawn()
    seed_generators(1)
    assert drawn() == first
