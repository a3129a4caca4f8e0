from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import read_images
from luthier.errors import DataError
from luthier.recipe import CenterCrop, RandomCrop, Resize

NOISE = np.random.default_rng(0).integers(0, 256, (50, 70, 3), np.uint8)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    Image.fromarray(NOISE).save(tmp_path / "noise.png")
    return tmp_path / "noise.png"


def test_an_image_of_the_right_size_is_read_as_it_is(file: Path) -> None:
    np.testing.assert_array_equal(read_images([file, file], shape=(50, 70, 3)), np.stack([NOISE, NOISE]))


def test_the_evaluations_transforms_are_applied(file: Path) -> None:
    read = read_images([file], shape=(20, 20, 3), transforms=(Resize(size=24), CenterCrop(size=20)))
    resized = np.asarray(Image.fromarray(NOISE).resize((33, 24), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(read[0], resized[2:22, 6:26])


@pytest.mark.parametrize("shape", [(32, 32, 3), (32, 32, 1), (28, 40, 1), (50, 70, 1)])
def test_any_image_comes_out_in_the_networks_size_and_colours(file: Path, shape: tuple[int, int, int]) -> None:
    read = read_images([str(file)], shape=shape)
    assert read.shape == (1, *shape)
    assert read.dtype == np.uint8


def test_a_file_that_cannot_be_read_or_cut_is_named(file: Path, tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no image")
    with pytest.raises(DataError, match=r"Not an image that can be read"):
        read_images([file, tmp_path / "text.png"], shape=(32, 32, 3))
    with pytest.raises(DataError, match="random-crop takes 90×90") as caught:
        read_images([file], shape=(90, 90, 3), transforms=(RandomCrop(size=90),))
    assert caught.value.at == str(file)


def test_a_file_in_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="The image file cannot be read: File name too long"):
        read_images([tmp_path / ("a" * 300)], shape=(32, 32, 3))


def test_a_network_of_other_channels_cannot_be_shown_a_file(file: Path) -> None:
    with pytest.raises(DataError, match="Image files have 1 or 3 channels, the network takes 4"):
        read_images([file], shape=(32, 32, 4))
