from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data.decoding import decode, image_size
from luthier.errors import DataError

COLOURS = np.array([[[255, 0, 0], [0, 128, 0], [10, 20, 30]], [[0, 0, 0], [255, 255, 255], [7, 7, 7]]], np.uint8)


@pytest.mark.parametrize("suffix", ["png", "bmp", "webp", "tiff", "ppm", "gif"])
def test_every_usual_format_gives_its_colours(tmp_path: Path, suffix: str) -> None:
    Image.fromarray(COLOURS).save(tmp_path / f"image.{suffix}", lossless=True)  # webp alone has a say in it
    np.testing.assert_array_equal(np.asarray(decode(tmp_path / f"image.{suffix}")), COLOURS)
    assert image_size(tmp_path / f"image.{suffix}") == (2, 3)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA", "CMYK", "I;16"])
def test_every_mode_becomes_three_bytes_a_pixel_or_one(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("image.tiff" if mode == "CMYK" else "image.png")
    grey = Image.fromarray(np.array([[0, 255], [255, 0]], np.uint8))
    if mode == "I;16":
        Image.fromarray(np.array([[0, 65535], [65535, 0]], np.uint16)).save(path)
    else:
        (grey.convert("RGB") if mode in ("CMYK", "RGBA") else grey).convert(mode).save(path)
    for channels in (1, 3):
        read = np.asarray(decode(path, channels=channels)).reshape(2, 2, channels)
        np.testing.assert_array_equal(read, np.array([[0, 255], [255, 0]])[..., None].repeat(channels, axis=2))


def test_sixteen_bits_are_scaled_not_cut_off(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 256, 32768, 65535]], np.uint16)).save(tmp_path / "deep.png")
    assert np.asarray(decode(tmp_path / "deep.png", channels=1)).tolist() == [[0, 1, 128, 255]]


def test_a_palette_with_transparency_is_read_without_a_warning(tmp_path: Path) -> None:
    picture = Image.fromarray(COLOURS).quantize(8)
    picture.save(tmp_path / "clear.png", transparency=bytes([0, 128, 255]))
    assert decode(tmp_path / "clear.png").mode == "RGB"


@pytest.mark.parametrize("content", [b"", b"<html></html>", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0garbage"])
def test_a_file_that_is_no_image_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.jpg"
    path.write_bytes(content)
    for read in (decode, image_size):
        with pytest.raises(DataError, match=r"^Not an image that can be read") as caught:
            read(path)
        assert caught.value.at == str(path)
        assert str(path) not in caught.value.sentence


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tiff"])
def test_an_image_cut_off_in_the_middle_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"half.{suffix}"
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError) as caught:
        decode(path)
    assert caught.value.at == str(path)


def test_a_file_that_is_gone_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="An image file is missing"):
        decode(tmp_path / "gone.png")
