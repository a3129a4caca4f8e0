from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from luthier.data import open_data
from luthier.errors import DataError, RecipeError
from luthier.measure import predict, predictions_text
from luthier.store import Run

LIGHT_ON_DARK = "its ground is light, the data set's images are mostly dark: invert it if that is not meant"


@pytest.fixture(scope="module")
def digit() -> tuple[Image.Image, str]:
    """The first of the evaluation set, and which it is."""
    from tests.compress.making import digits

    with open_data(digits().data, seed=1) as data:
        batch = next(data.eval.epoch(0))
        return Image.fromarray(batch.images[0, ..., 0]), data.classes[int(batch.labels[0])]


def saved(picture: Image.Image, folder: Path, name: str = "digit.png") -> Path:
    picture.save(folder / name)
    return folder / name


def test_a_digit_is_recognised_and_the_probabilities_come_in_order(
    trained_once: Run, tmp_path: Path, digit: tuple[Image.Image, str]
) -> None:
    (prediction,) = predict(trained_once, [saved(digit[0], tmp_path)], top=10)
    assert prediction.labels[0].name == digit[1]
    probabilities = [label.probability for label in prediction.labels]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1)
    assert prediction.notes == ()
    assert len(predict(trained_once, [prediction.image], top=3)[0].labels) == 3


def test_many_images_are_predicted_as_each_by_itself(
    trained_once: Run, tmp_path: Path, digit: tuple[Image.Image, str]
) -> None:
    paths = [saved(digit[0].rotate(angle), tmp_path, f"{angle}.png") for angle in range(70)]
    together = predict(trained_once, paths)
    assert [prediction.image for prediction in together] == [str(path) for path in paths]
    (alone,) = predict(trained_once, [paths[69]])
    assert alone.labels[0].name == together[69].labels[0].name
    assert alone.labels[0].probability == pytest.approx(together[69].labels[0].probability, abs=1e-5)
    assert predict(trained_once, []) == []


def test_another_size_and_colour_are_fitted_and_said(
    trained_once: Run, tmp_path: Path, digit: tuple[Image.Image, str]
) -> None:
    large = digit[0].resize((96, 128)).convert("RGB")
    (prediction,) = predict(trained_once, [saved(large, tmp_path)])
    assert prediction.labels[0].name == digit[1]
    assert prediction.notes == ("128×96 pixels, seen as 32×32", "in colour, seen in grey")


def test_a_photograph_is_seen_upright_and_that_is_said(
    trained_once: Run, tmp_path: Path, digit: tuple[Image.Image, str]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = digit[0].resize((96, 128)).transpose(Image.Transpose.ROTATE_90)
    lying.save(tmp_path / "phone.png", exif=exif)
    (prediction,) = predict(trained_once, [tmp_path / "phone.png"], top=10)
    (upright,) = predict(trained_once, [saved(digit[0].resize((96, 128)), tmp_path)], top=10)
    assert prediction.labels == upright.labels
    assert prediction.notes == (
        "turned upright, as its camera says; class folders are read as the files lie",
        "128×96 pixels, seen as 32×32",
    )


def test_dark_on_light_is_named_and_inverted_only_when_asked(
    trained_once: Run, tmp_path: Path, digit: tuple[Image.Image, str]
) -> None:
    paper = saved(digit[0].point(lambda grey: 255 - grey), tmp_path)
    (plain,) = predict(trained_once, [paper])
    assert plain.notes == (LIGHT_ON_DARK,)
    (inverted,) = predict(trained_once, [paper], invert=True)
    assert inverted.notes == ()
    (original,) = predict(trained_once, [saved(digit[0], tmp_path, "original.png")])
    assert inverted.labels == original.labels
    assert plain.labels != original.labels


def test_what_is_no_image_is_named(trained_once: Run, tmp_path: Path) -> None:
    (tmp_path / "note.png").write_text("no image")
    with pytest.raises(DataError, match=r"Not an image that can be read.* - at .*note\.png"):
        predict(trained_once, [tmp_path / "note.png"])
    with pytest.raises(DataError, match=r"missing - at .*none\.png"):
        predict(trained_once, [tmp_path / "none.png"])
    with pytest.raises(DataError, match=r"Expected an image file, got a folder - at .*\n  Name its images: .*\*\.png$"):
        predict(trained_once, [tmp_path])
    with pytest.raises(DataError) as caught:
        predict(trained_once, [tmp_path / "note.png"])
    assert caught.value.hint is None  # a data set's remedy is none here
    with pytest.raises(RecipeError, match="is a recipe, expected a run"):
        predict("lenet5-digits", [])


def test_a_line_an_image_and_one_a_note(trained_once: Run, tmp_path: Path) -> None:
    white = saved(Image.fromarray(np.full((32, 32), 255, np.uint8)), tmp_path)
    head, note = predictions_text(predict(trained_once, [white], top=2)).splitlines()
    assert head.startswith(f"{white}: ")
    assert head.count(" %") == 2
    assert note == f"  {LIGHT_ON_DARK}"
