from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import Source, arrays, grid, open_data, open_source, undrawable
from luthier.data.grid import CELL, MARGIN, TITLE
from luthier.recipe import CenterCrop, Data, RandomCrop, Resize

Make = Callable[..., Source]
grids = import_module("luthier.data.grid")  # whose name the function of it hides


def cell(sheet: Image.Image, column: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    left, top = MARGIN + column * (CELL + 14), MARGIN + TITLE
    return np.asarray(sheet.crop((left, top, left + CELL, top + CELL)))


def test_small_images_stand_in_their_cells_pixel_for_pixel(numbered: Make) -> None:
    source = numbered(shape=(32, 32, 3))
    samples = source.sample("train", 4)
    sheet = grid(source, "train", 4)
    for column in range(2):
        expected = np.asarray(samples.images[column]).repeat(3, axis=0).repeat(3, axis=1)
        np.testing.assert_array_equal(cell(sheet, column), expected)


def test_grey_images_are_drawn_grey() -> None:
    sheet = cell(grid(open_source("digits"), "eval", 4))
    assert (sheet[..., 0] == sheet[..., 2]).all()
    assert sheet.max() > 200


@pytest.mark.parametrize("count", [1, 2, 7, 40, 64])
def test_any_number_of_samples_fits(numbered: Make, count: int) -> None:
    sheet = grid(numbered(train=64), "train", count)
    assert sheet.width >= 2 * MARGIN + CELL
    assert sheet.height >= 2 * MARGIN + TITLE + CELL


def test_every_image_has_its_class_name_below(numbered: Make) -> None:
    source = numbered(shape=(32, 32, 3))
    empty = replace(source, classes=tuple(" " * (1 + label) for label in range(5)))
    caption = (MARGIN, MARGIN + TITLE + CELL, MARGIN + CELL, MARGIN + TITLE + CELL + 22)
    named, blank = (np.asarray(grid(each, "train", 6).crop(caption)) for each in (source, empty))
    assert named.min() < 64
    assert blank.min() == 255


def caption(name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """What stands below the one image of a set with one class."""
    images = np.zeros((1, 32, 32, 3), np.uint8)
    sheet = grid(arrays(images, [0], images, [0], classes=[name]))
    return np.asarray(sheet.crop((0, MARGIN + TITLE + CELL, sheet.width, sheet.height)))


@pytest.mark.parametrize("name", ["a class name that is far too long for its cell", "tälkki", "two\nlines"])
def test_names_of_any_length_are_drawn(name: str) -> None:
    assert caption(name).min() < 64


@pytest.mark.parametrize("names", [("猫", "狗"), ("кот", "пёс"), ("tälkki", "tölkki")])
def test_the_letters_of_every_name_are_drawn_or_its_number(names: tuple[str, str]) -> None:
    """A box in place of a letter is the same for every letter."""
    first, second = (caption(name) for name in names)
    if undrawable(names):
        np.testing.assert_array_equal(first, caption("class 0"))
    else:
        assert (first != second).any()


def test_a_class_whose_letters_no_font_has_goes_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert undrawable(["cat", "\U0010fffe"]) == ["\U0010fffe"]
    np.testing.assert_array_equal(caption("\U0010fffe"), caption("class 0"))
    monkeypatch.setattr(grids, "WIDE_FONTS", ())
    grids._fonts.cache_clear()
    assert undrawable(["猫", "cat"]) == ["猫"]
    np.testing.assert_array_equal(caption("猫"), caption("class 0"))
    grids._fonts.cache_clear()


@pytest.mark.skipif(not len(grids._fonts(13)) > 1, reason="no font with Chinese is here")
def test_chinese_is_drawn_where_a_font_has_it() -> None:
    assert undrawable(["猫", "狗"]) == []
    assert (caption("猫") != caption("class 0")).any()


def test_images_of_other_channels_show_the_first() -> None:
    layers = np.random.default_rng(0).integers(0, 256, (1, 32, 32, 5), np.uint8)
    both = (arrays(given, [0], given, [0], classes=["a class"]) for given in (layers, layers[..., :1]))
    five, one = (grid(source) for source in both)
    np.testing.assert_array_equal(cell(five), cell(one))


def test_images_of_various_sizes_are_made_to_fit(class_folders: Path) -> None:
    Image.new("RGB", (300, 100), (0, 255, 0)).save(class_folders / "train" / "cat" / "0.png")
    sheet = cell(grid(open_source("folder", path=str(class_folders)), "train", 12))
    assert sheet[CELL // 2].tolist() == [[0, 255, 0]] * CELL
    assert sheet[0, 0].tolist() != [0, 255, 0]


def test_a_data_set_is_drawn_as_the_network_sees_it(class_folders: Path) -> None:
    config = Data(
        name="folder",
        path=str(class_folders),
        batch_size=2,
        train=(Resize(size=16, stretch=True), RandomCrop()),
        eval=(CenterCrop(size=8),),
    )
    with open_data(config, seed=1) as data:
        grid(data, "train", 6).save(class_folders / "train.png")
        grid(data, "eval", 6).save(class_folders / "eval.png")
    assert (class_folders / "train.png").stat().st_size > 1000


def test_a_picture_is_written_by_its_suffix(numbered: Make, tmp_path: Path) -> None:
    for suffix in ("png", "jpg", "webp"):
        grid(numbered(), "eval", 4).save(tmp_path / f"grid.{suffix}")
        with Image.open(tmp_path / f"grid.{suffix}") as picture:
            picture.load()
