"""Any program's names become the network's, and what belongs to no one keeps its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from luthier.weights import renamed
from tests.weights.test_matching import CELL, TORCH

Arrays = dict[str, NDArray[Any]]


def filled(shapes: dict[str, tuple[int, ...]]) -> Arrays:
    """Each array has a number of its own."""
    return {name: np.full(shape, number, np.float32) for number, (name, shape) in enumerate(shapes.items(), start=1)}


def course(arrays: Arrays) -> Arrays:
    return {
        name.replace("downsample", "down_sample_layer").replace("fc.", "end_point."): array
        for name, array in arrays.items()
    }


def with_optimizer(arrays: Arrays) -> Arrays:
    moments = {f"moments.{name}": array for name, array in arrays.items()}
    return arrays | moments | {"learning_rate": np.float32(0.1).reshape(()), "lr": np.zeros(())}


def wrapped(arrays: Arrays) -> Arrays:
    return {f"module._orig_mod.{name}": array for name, array in arrays.items()}


class TestIntoPyTorchsNames:
    @pytest.mark.parametrize("write", [dict, course, with_optimizer, wrapped, lambda a: with_optimizer(course(a))])
    def test_a_cell_s_arrays_find_their_places(self, write: Any) -> None:
        given = filled(CELL)
        found = renamed(write(given), TORCH)
        assert found.keys() == TORCH.keys()
        assert found["layer1.0.downsample.1.running_var"] is given["layer1.0.downsample.1.moving_variance"]
        assert found["layer1.0.downsample.1.weight"] is given["layer1.0.downsample.1.gamma"]
        assert found["fc.bias"] is given["fc.bias"]
        assert found["layer1.0.downsample.1.num_batches_tracked"].tolist() == 0

    @pytest.mark.parametrize("write", [dict, wrapped])
    def test_a_module_s_own_arrays_stay(self, write: Any) -> None:
        given = filled(TORCH)
        found = renamed(write(given), TORCH)
        assert all(found[name] is given[name] for name in TORCH)

    def test_what_has_no_partner_keeps_its_name(self) -> None:
        found = renamed(filled(CELL) | {"neck.weight": np.ones(3)}, TORCH)
        assert set(found) - set(TORCH) == {"neck.weight"}
        assert "fc.weight" not in renamed({n: a for n, a in filled(CELL).items() if n != "fc.weight"}, TORCH)


class TestIntoACellsNames:
    def test_a_module_s_arrays_find_their_places_without_its_counters(self) -> None:
        given = filled(TORCH)
        found = renamed(given, CELL)
        assert found.keys() == CELL.keys()
        assert found["layer1.0.downsample.1.gamma"] is given["layer1.0.downsample.1.weight"]

    def test_another_run_of_the_same_cell_keeps_even_the_course_s_names(self) -> None:
        own = {name.replace("fc.", "end_point."): shape for name, shape in CELL.items()}
        given = with_optimizer(filled(own))
        assert renamed(given, own).keys() == own.keys()

    def test_a_one_dimensional_convolution_gains_its_axis_and_loses_it(self) -> None:
        weight = np.arange(24.0).reshape(2, 4, 3)
        there = renamed(
            {"a.weight": weight, "b.running_mean": np.ones(2)}, {"a.weight": (2, 4, 1, 3), "b.moving_mean": (2,)}
        )
        assert there["a.weight"].shape == (2, 4, 1, 3)
        assert np.array_equal(renamed(there, {"a.weight": (2, 4, 3), "b.running_mean": (2,)})["a.weight"], weight)
