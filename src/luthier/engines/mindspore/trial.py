"""Images and labels of the recipe's kind, to try a user's own Cell with before a run begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from luthier.data import Batch
from luthier.recipe import Recipe

__all__ = ["NOT_REPEATABLE", "random_batch", "random_images"]

NOT_REPEATABLE = (
    "{} draws random numbers that MindSpore keeps to itself: a resumed run will not have the same bits, as it would "
    "with ops.dropout, bernoulli, uniform, normal, rand or randn"
)


def random_images(recipe: Recipe, shape: tuple[int, int, int]) -> NDArray[np.uint8]:
    """As many as a graph will see, which is compiled for their number; two for a look in eager mode."""
    count = recipe.data.batch_size if recipe.mode == "graph" else 2
    return np.random.default_rng(0).integers(0, 256, (count, *shape), np.uint8)


def random_batch(recipe: Recipe, shape: tuple[int, int, int], num_classes: int) -> Batch:
    """One step's, with rows in the place of labels where these are mixed, and with what a teacher would answer."""
    draw = np.random.default_rng(0)
    images = draw.integers(0, 256, (recipe.data.batch_size, *shape), np.uint8)
    labels = draw.integers(0, num_classes, recipe.data.batch_size, np.int32)
    mixed = recipe.strategy.mixup > 0 or recipe.strategy.cutmix > 0
    given = np.zeros((len(images), num_classes), np.float32) if recipe.strategy.teacher else None
    rows = np.eye(num_classes, dtype=np.float32)[labels] if mixed else labels
    return Batch(images=images, labels=rows, teacher=given)
