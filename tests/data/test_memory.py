from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from luthier.data import arrays
from luthier.errors import DataError

IMAGES = np.zeros((6, 4, 4, 3), np.uint8)
LABELS = [0, 1, 2, 0, 1, 2]


def test_images_are_kept_without_a_copy() -> None:
    source = arrays(IMAGES, LABELS, IMAGES[:2], LABELS[:2])
    assert isinstance(source.train.images, np.ndarray)
    assert np.shares_memory(source.train.images, IMAGES)
    assert source.train.labels.dtype == np.int32


def test_grey_images_need_no_channel_axis() -> None:
    source = arrays(IMAGES[..., 0], LABELS, IMAGES[:2, ..., 0], LABELS[:2])
    assert isinstance(source.train.images, np.ndarray)
    assert source.train.images.shape == (6, 4, 4, 1)


def test_classes_are_numbered_unless_they_are_named() -> None:
    assert arrays(IMAGES, LABELS, IMAGES[:1], [3]).classes == ("0", "1", "2", "3")
    assert arrays(IMAGES, LABELS, IMAGES[:1], [1], classes=["a", "b", "c"]).classes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"images": IMAGES / 255}, "Expected images of uint8, got float64 - at images"),
        ({"images": IMAGES[0, 0]}, "Expected images as (count, height, width, channels), got shape (4, 3)"),
        ({"images": IMAGES[:0], "labels": []}, "Expected images, got none"),
        ({"images": np.zeros((6, 3, 32, 32), np.uint8)}, "Expected the channels last, got shape (6, 3, 32, 32)"),
        ({"eval_images": IMAGES[:2, ..., :1]}, "images have 3 channels, eval_images 1"),
        ({"labels": LABELS[:5]}, "Expected 6 labels, one an image, got 5 - at labels"),
        ({"labels": np.eye(6)}, "Expected one whole number an image, got float64 of shape (6, 6) - at labels"),
        ({"labels": [0, 1, -1, 0, 1, 2]}, "Expected labels from 0 to 2, got -1 for image 2 - at labels"),
        ({"eval_labels": [0, 7], "classes": ["a", "b", "c"]}, "Expected labels from 0 to 2, got 7 for image 1"),
    ],
)
def test_what_is_no_image_or_label_is_refused(changes: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {
        "images": IMAGES,
        "labels": LABELS,
        "eval_images": IMAGES[:2],
        "eval_labels": [0, 1],
    } | changes
    with pytest.raises(DataError) as caught:
        arrays(**given)
    assert str(caught.value).startswith(sentence)
