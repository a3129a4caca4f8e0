"""Pillow's own turning is the reference."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from luthier.data import image_facts, read_images
from luthier.data.decoding import decode
from luthier.data.orientation import orientation_of, turned_upright

NOISE = np.random.default_rng(0).integers(0, 256, (6, 9, 3), np.uint8)


def photograph(path: Path, orientation: int) -> Path:
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(NOISE).save(path, exif=exif)
    return path


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tiff"])
def test_it_is_turned_as_pillow_turns_it(orientation: int, suffix: str, tmp_path: Path) -> None:
    path = photograph(tmp_path / f"photo.{suffix}", orientation)
    with Image.open(path) as image:
        expected = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
        turned = turned_upright(image.convert("RGB"), orientation_of(image))
    height, width, _ = expected.shape
    np.testing.assert_array_equal(np.asarray(turned), expected)
    np.testing.assert_array_equal(np.asarray(decode(path, upright=True)), expected)
    np.testing.assert_array_equal(read_images([path], shape=(height, width, 3))[0], expected)
    facts = image_facts(path)
    assert (facts.height, facts.width, facts.turned) == (height, width, orientation != 1 and suffix != "tiff")


def test_the_images_of_a_data_set_stay_as_their_files_have_them(tmp_path: Path) -> None:
    assert decode(photograph(tmp_path / "photo.png", 6)).size == (9, 6)


@pytest.mark.filterwarnings("ignore:.*EXIF data")  # of Pillow's own, when it opens the file
@pytest.mark.parametrize(
    "exif",
    [
        b"Exif\0\0",
        b"Exif\0\0garbagegarbage",
        b"Exif\0\0MM\0*\0\0\xff\xff",
        b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x02\0\x04\0\0\0abc\0",
        b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0",
    ],
    ids=["none", "garbage", "cut off", "a text", "nine"],
)
def test_what_a_damaged_word_says_is_not_heard(exif: bytes) -> None:
    made = io.BytesIO()
    Image.fromarray(NOISE).save(made, "jpeg", exif=exif)
    with Image.open(made) as image:
        assert orientation_of(image) == 1
