from __future__ import annotations

import numpy as np

from luthier.data import open_data, open_source
from luthier.recipe import Data, Normalize


def test_digits_are_1437_for_training_and_360_for_evaluation_with_every_class_alike() -> None:
    source = open_source("digits")
    assert (len(source.train), len(source.eval)) == (1437, 360)
    whole = np.bincount(source.train.labels) + np.bincount(source.eval.labels)
    assert whole.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (np.abs(np.bincount(source.eval.labels) - whole / 5) < 1).all()


def test_digits_are_eight_by_eight_pixels_of_seventeen_levels_each_shown_four_by_four() -> None:
    images = open_source("digits").train.images
    assert isinstance(images, np.ndarray)
    assert images.shape[1:] == (32, 32, 1)
    small = images[:, ::4, ::4]
    np.testing.assert_array_equal(small.repeat(4, axis=1).repeat(4, axis=2), images)
    assert np.unique(images).tolist() == [round(level * 255 / 16 + 1e-9) for level in range(17)]


def test_the_first_image_of_the_evaluation_part_is_the_first_of_the_source() -> None:
    source = open_source("digits")
    assert isinstance(source.eval.images, np.ndarray)
    assert source.eval.labels[0] == 0
    levels = np.rint(source.eval.images[0, ::4, ::4, 0] * (16 / 255)).astype(int)
    assert levels[0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_digits_train_without_any_data_root() -> None:
    config = Data(name="digits", batch_size=32, normalize=Normalize(mean=(0.3,), std=(0.35,)), train=())
    data = open_data(config, seed=1)
    assert data.shape == (32, 32, 1)
    assert data.train.steps == 44
