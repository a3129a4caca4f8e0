"""Weights that another program named, under the names and in the layouts of the network that takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.weights.course import from_course, without_optimizer
from luthier.weights.matching import COUNTER, Shapes, between, pairs

__all__ = ["renamed"]

Arrays = Mapping[str, NDArray[Any]]


def renamed(arrays: Arrays, own: Shapes) -> dict[str, NDArray[Any]]:
    """PyTorch's, MindSpore's and the course's names become the network's, whichever of them these are.

    What has no partner keeps its name, so that whoever compares can tell it; optimizers' entries and the numbers that
    training scripts put beside the weights are left out.
    """
    kept = {name: array for name, array in arrays.items() if name in own}
    rest = without_optimizer(
        {name: array for name, array in arrays.items() if name not in own and _may_be(name, array)}
    )
    if len(kept) == len(own):
        return kept | rest
    given = _without_wrapper(kept | from_course(rest), own)
    shapes = {name: tuple(array.shape) for name, array in given.items()}
    as_pytorch, as_mindspore = pairs(own, shapes), pairs(shapes, own)
    if len(as_pytorch) >= len(as_mindspore):
        taken = {name: between(own[name], shapes[other]).back(given[other]) for name, other in as_pytorch.items()}
        used = set(as_pytorch.values())
        taken |= {name: np.zeros(own[name], np.int64) for name in own if _is_counter(name) and name not in taken}
    else:
        taken = {other: between(shapes[name], own[other]).there(given[name]) for name, other in as_mindspore.items()}
        used = set(as_mindspore) | {name for name in given if _is_counter(name)}
    return taken | {name: array for name, array in given.items() if name not in used}


def _may_be(name: str, array: NDArray[Any]) -> bool:
    return array.ndim > 0 or _is_counter(name)


def _is_counter(name: str) -> bool:
    return name.rpartition(".")[2] == COUNTER


def _without_wrapper(given: dict[str, NDArray[Any]], own: Shapes) -> dict[str, NDArray[Any]]:
    """A training script's `module.` or `_orig_mod.` before every name."""
    while True:
        first = next(iter(given), "").partition(".")[0] + "."
        if len(first) == 1 or not all(name.startswith(first) for name in given):
            return given
        if any(name.startswith(first) for name in own):
            return given
        given = {name.removeprefix(first): array for name, array in given.items()}
