"""What a proof takes from a recipe: its batches as the network sees them, and its evaluation set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from luthier.data import open_data
from luthier.proof.network import Array
from luthier.recipe import Recipe

__all__ = ["evaluation_batches", "training_batches"]

LIMIT = 512  # images of the evaluation set, unless the recipe says otherwise
KEPT = 32  # batches, which repeat beyond that


def normalised(images_BHWC: Array, recipe: Recipe) -> Array:
    """(x/255 − mean)/std, with the channels first."""
    mean, std = (np.array(values) for values in (recipe.data.normalize.mean, recipe.data.normalize.std))
    found: Array = ((images_BHWC / 255.0 - mean) / std).transpose(0, 3, 1, 2).astype(np.float32)
    return found


def training_batches(recipe: Recipe, root: Path | None) -> Callable[[int], tuple[Array, Array]]:
    """Images and labels of a training batch by its number."""
    with open_data(recipe.data, seed=recipe.strategy.seed, root=root) as data:
        found = []
        for batch in data.train.epoch(0):
            labels = batch.labels if batch.labels.ndim == 1 else batch.labels.argmax(1)
            found.append((normalised(batch.images, recipe), labels.astype(np.int64)))
            if len(found) == KEPT:
                break

    return lambda number: found[number % len(found)]


def evaluation_batches(recipe: Recipe, root: Path | None) -> Iterator[tuple[Array, Array]]:
    """Images and labels, at most so many as the recipe's limit."""
    left = recipe.data.eval_limit or LIMIT
    with open_data(recipe.data, seed=recipe.strategy.seed, root=root) as data:
        for batch in data.eval.epoch(0):
            yield normalised(batch.images[:left], recipe), batch.labels[:left]
            left -= len(batch.images)
            if left <= 0:
                return
