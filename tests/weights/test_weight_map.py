"""A weight map is two-way, complete, and the same for weights, gradients and moments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from luthier.errors import ModelError, StoreError
from luthier.weights import (
    Dropped,
    Entry,
    Expand,
    Identity,
    OneMinus,
    ReorderGates,
    Transform,
    Transpose,
    WeightMap,
    read_map,
    write_map,
)

Array = NDArray[Any]

TRANSFORMS: list[Transform] = [
    Identity(),
    Expand(axis=2),
    Expand(axis=-1),
    Transpose(axes=(2, 0, 1)),
    OneMinus(),
    ReorderGates(order=(2, 0, 3, 1)),
    ReorderGates(order=(1, 2, 0), axis=1),
]


def array() -> Array:
    """Multiples of 1/64 below 1: `1 − m` is exact in float32."""
    return (np.random.default_rng(0).integers(0, 64, (8, 6, 5)) / 64).astype(np.float32)


def one(transform: Transform) -> WeightMap:
    return WeightMap(entries=(Entry(source="a", target="b", transform=transform),))


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
@pytest.mark.parametrize("linear", [False, True])
def test_there_and_back_gives_the_same_bits(transform: Transform, linear: bool) -> None:
    weights = array()
    there = one(transform).to_target({"a": weights}, linear=linear)
    assert there["b"].dtype == weights.dtype
    assert np.array_equal(one(transform).to_source(there, linear=linear)["a"], weights)


@pytest.mark.parametrize("transform", TRANSFORMS, ids=repr)
def test_linear_is_the_slope_of_the_transform(transform: Transform) -> None:
    weights, change = array(), np.full((8, 6, 5), 0.25, np.float32)
    moved = transform.there(weights + change) - transform.there(weights)
    assert np.array_equal(moved, transform.there(change, linear=True))


def test_each_transform_does_what_it_says() -> None:
    weights = array()
    assert Expand(axis=2).there(weights).shape == (8, 6, 1, 5)
    assert Transpose(axes=(2, 0, 1)).there(weights).shape == (5, 8, 6)
    assert np.array_equal(OneMinus().there(weights), 1 - weights)
    gates = np.repeat(np.arange(4), 2)
    assert ReorderGates(order=(0, 3, 1, 2)).there(gates).tolist() == [0, 0, 3, 3, 1, 1, 2, 2]


@given(st.permutations(range(5)))
def test_any_order_of_gates_returns(order: list[int]) -> None:
    transform = ReorderGates(order=tuple(order))
    gates = np.arange(20).reshape(10, 2)
    assert np.array_equal(transform.back(transform.there(gates)), gates)


def test_what_was_dropped_comes_back_with_its_fill() -> None:
    weight_map = WeightMap(
        entries=(Entry(source="bn.weight", target="bn.gamma"),),
        dropped=(Dropped(source="bn.num_batches_tracked", value=3),),
    )
    there = weight_map.to_target({"bn.weight": array(), "bn.num_batches_tracked": np.array(7)})
    assert set(there) == {"bn.gamma"}
    counter = weight_map.to_source(there)["bn.num_batches_tracked"]
    assert (counter.shape, counter.dtype, int(counter)) == ((), np.dtype(np.int64), 3)


def test_a_part_of_the_arrays_crosses_where_it_is_allowed() -> None:
    weight_map = WeightMap(entries=(Entry(source="a", target="b"), Entry(source="c", target="d")))
    assert set(weight_map.to_source({"d": array()}, linear=True, partial=True)) == {"c"}
    with pytest.raises(ModelError, match="The weights lack 'b'"):
        weight_map.to_source({"d": array()})


def test_a_map_on_disk_is_the_map(tmp_path: Path) -> None:
    weight_map = WeightMap(
        entries=tuple(Entry(source=f"s{i}", target=f"t{i}", transform=t) for i, t in enumerate(TRANSFORMS)),
        dropped=(Dropped(source="counter"),),
    )
    write_map(weight_map, tmp_path / "map.json")
    assert read_map(tmp_path / "map.json") == weight_map
    assert '"kind": "reorder-gates"' in (tmp_path / "map.json").read_text("utf-8")


def test_a_name_without_an_entry_is_refused_with_the_nearest() -> None:
    with pytest.raises(ModelError, match=r"no entry for 'fc2.weigth'\n.*'fc2.weight'"):
        WeightMap(entries=(Entry(source="fc2.weight", target="x"),)).to_target({"fc2.weigth": array()})


def test_a_name_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="the target 'b' twice"):
        WeightMap(entries=(Entry(source="a", target="b"), Entry(source="c", target="b")))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "cannot be read"),
        ('{"entries": [{"source": "a"}]}', "missing required field `target`"),
        ('{"entries": [{"source": "a", "target": "b", "transform": {"kind": "turn"}}]}', "turn"),
        ('{"entries": [{"source": "a", "target": "b"}, {"source": "a", "target": "c"}]}', "the source 'a' twice"),
        ('{"entries": [], "extra": 1}', "unknown field `extra`"),
    ],
)
def test_a_damaged_map_is_refused_by_place(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "map.json").write_text(text, "utf-8")
    with pytest.raises(StoreError, match=fault) as caught:
        read_map(tmp_path / "map.json")
    assert "map.json" in str(caught.value)


def test_a_map_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"No weight map .*none\.json"):
        read_map(tmp_path / "none.json")
