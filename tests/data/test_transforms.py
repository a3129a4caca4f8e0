from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from luthier.data.batch import Images
from luthier.data.draws import Purpose, Raw, Stream, integers, uniform
from luthier.data.transforms import operation
from luthier.data.transforms.operations import OPERATIONS
from luthier.data.transforms.resize import RandomResizedCropping
from luthier.errors import DataError
from luthier.recipe import (
    CenterCrop,
    ColorJitter,
    Cutout,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Transform,
)

EVERY = (
    CenterCrop(size=6),
    ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4),
    Cutout(size=4),
    RandomCrop(padding=2),
    RandomFlip(),
    RandomResizedCrop(size=5),
    Resize(size=11),
)


def pictures(count: int = 12, height: int = 9, width: int = 7, channels: int = 3) -> Images:
    return np.random.default_rng(0).integers(0, 256, (count, height, width, channels), dtype=np.uint8)


def raw_for(record: Transform, count: int, seed: int = 1) -> Raw:
    return Stream(seed, 0, Purpose.TRANSFORM, width=operation(record).width).take(count)


def test_every_transform_of_the_recipe_is_there() -> None:
    assert {type(record) for record in EVERY} == set(OPERATIONS) == set(Transform.__args__)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("record", EVERY, ids=lambda record: type(record).__name__)
def test_an_image_comes_out_the_same_alone_as_in_a_batch(record: Transform, channels: int) -> None:
    images, raw = pictures(channels=channels), raw_for(record, 12)
    together = operation(record).apply(images.copy(), raw)
    alone = [operation(record).apply(images[i : i + 1].copy(), raw[i : i + 1])[0] for i in range(12)]
    np.testing.assert_array_equal(together, np.stack(alone))
    assert together.dtype == np.uint8
    assert together.shape[1:] == (*(operation(record).size((9, 7)) or ()), channels)


@given(
    seed=st.integers(0, 1000),
    padding=st.integers(0, 3),
    size=st.one_of(st.none(), st.integers(1, 7)),
    channels=st.integers(1, 4),
)
def test_a_random_crop_is_the_window_of_the_padded_image_at_the_drawn_place(
    seed: int, padding: int, size: int | None, channels: int
) -> None:
    record = RandomCrop(padding=padding, size=size)
    images, raw = pictures(5, channels=channels), raw_for(record, 5, seed)
    height, width = (size, size) if size else (9, 7)
    padded = np.pad(images, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    top = integers(raw[:, 0], 9 + 2 * padding - height + 1)
    left = integers(raw[:, 1], 7 + 2 * padding - width + 1)
    expected = [padded[i, top[i] : top[i] + height, left[i] : left[i] + width] for i in range(5)]
    np.testing.assert_array_equal(operation(record).apply(images, raw), np.stack(expected))


def test_a_random_crop_reaches_every_place_equally_often() -> None:
    record = RandomCrop(padding=1)
    images = np.zeros((9000, 3, 3, 1), np.uint8)
    images[:, 1, 1] = 1
    cropped = operation(record).apply(images, raw_for(record, 9000))
    np.testing.assert_allclose(cropped.sum(axis=0).ravel(), 1000, rtol=0.15)


def test_a_random_flip_mirrors_the_chosen_and_leaves_the_others() -> None:
    record = RandomFlip(probability=0.3)
    images, raw = pictures(1000, 4, 3), raw_for(record, 1000)
    chosen = uniform(raw[:, 0]) < 0.3
    flipped = operation(record).apply(images.copy(), raw)
    np.testing.assert_array_equal(flipped[chosen], images[chosen][:, :, ::-1])
    np.testing.assert_array_equal(flipped[~chosen], images[~chosen])
    assert abs(chosen.mean() - 0.3) < 0.05


@pytest.mark.parametrize(("probability", "step"), [(0.0, 1), (1.0, -1)])
def test_a_flip_of_certain_outcome_flips_none_or_all(probability: float, step: int) -> None:
    record = RandomFlip(probability=probability)
    images = pictures()
    flipped = operation(record).apply(images.copy(), raw_for(record, 12))
    np.testing.assert_array_equal(flipped, images[:, :, ::step])


def test_a_cutout_is_a_square_of_zeros_cut_off_at_the_edge() -> None:
    record = Cutout(size=4)
    images, raw = np.full((200, 9, 7, 3), 255, np.uint8), raw_for(record, 200)
    cut = operation(record).apply(images, raw)
    for image, row in zip(cut, raw, strict=True):
        top, left = int(integers(row[0], 9)) - 2, int(integers(row[1], 7)) - 2
        expected = np.full((9, 7, 3), 255, np.uint8)
        expected[max(top, 0) : top + 4, max(left, 0) : left + 4] = 0
        np.testing.assert_array_equal(image, expected)


def test_a_centre_crop_takes_the_middle_and_pads_what_is_too_small() -> None:
    images = pictures(2, 9, 7)
    np.testing.assert_array_equal(
        operation(CenterCrop(size=5)).apply(images, raw_for(CenterCrop(), 2)), images[:, 2:7, 1:6]
    )
    padded = operation(CenterCrop(size=11)).apply(images, raw_for(CenterCrop(), 2))
    np.testing.assert_array_equal(padded[:, 1:10, 2:9], images)
    assert padded.sum() == images.sum()


def test_a_jitter_of_no_strength_changes_nothing() -> None:
    images = pictures()
    jittered = operation(ColorJitter()).apply(images, raw_for(ColorJitter(), 12))
    np.testing.assert_array_equal(jittered, images)


def test_brightness_contrast_and_saturation_blend_with_black_mean_grey_and_own_grey() -> None:
    images = pictures(40)
    grey = images @ np.array([0.299, 0.587, 0.114])
    others = {
        "brightness": np.zeros_like(images, np.float64),
        "contrast": np.broadcast_to(grey.mean(axis=(1, 2))[:, None, None, None], images.shape),
        "saturation": np.broadcast_to(grey[..., None], images.shape),
    }
    for column, (field, other) in enumerate(others.items()):
        record = ColorJitter(**{field: 0.5})
        raw = raw_for(record, 40)
        factor = (0.5 + uniform(raw[:, column]))[:, None, None, None]
        expected = np.clip(images * factor + other * (1 - factor), 0, 255)
        np.testing.assert_allclose(operation(record).apply(images, raw), expected, atol=0.51)


def test_a_jitter_stronger_than_one_never_inverts() -> None:
    record = ColorJitter(brightness=3.0)
    images = pictures(100)
    jittered = operation(record).apply(images, raw_for(record, 100)).astype(int)
    assert (jittered.max(axis=(1, 2, 3)) - images.max(axis=(1, 2, 3)) >= 0).mean() > 0.6


@pytest.mark.parametrize(
    ("height", "width", "expected"), [(375, 500, (64, 85)), (500, 375, (85, 64)), (50, 50, (64, 64))]
)
def test_a_resize_scales_the_shorter_side_and_cuts_the_longer_to_a_whole_pixel(
    height: int, width: int, expected: tuple[int, int]
) -> None:
    image = pictures(1, height, width)
    resized = operation(Resize(size=64)).apply(image, raw_for(Resize(), 1))
    assert resized.shape[1:3] == expected
    by_pillow = Image.fromarray(image[0]).resize(expected[::-1], Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(resized[0], np.asarray(by_pillow))


def test_a_resize_that_stretches_sets_both_sides() -> None:
    assert operation(Resize(size=16, stretch=True)).apply(pictures(), raw_for(Resize(), 12)).shape == (12, 16, 16, 3)


def test_a_resize_to_the_images_own_size_changes_nothing() -> None:
    images = pictures()
    np.testing.assert_array_equal(operation(Resize(size=7)).apply(images, raw_for(Resize(), 12)), images)


@given(seed=st.integers(0, 10_000), height=st.integers(1, 600), width=st.integers(1, 600))
def test_the_window_of_a_random_resized_crop_lies_inside_the_image(seed: int, height: int, width: int) -> None:
    record = RandomResizedCrop()
    top, left, crop_height, crop_width = RandomResizedCropping(record).window(
        (height, width), raw_for(record, 1, seed)[0]
    )
    assert 0 <= top <= top + crop_height <= height
    assert 0 <= left <= left + crop_width <= width
    assert min(crop_height, crop_width) > 0


def test_windows_of_a_random_resized_crop_have_the_areas_and_ratios_that_were_asked_for() -> None:
    record = RandomResizedCrop(scale=(0.2, 0.5), ratio=(0.5, 2.0))
    windows = [RandomResizedCropping(record).window((400, 400), row) for row in raw_for(record, 2000)]
    areas = np.array([height * width / 160_000 for _, _, height, width in windows])
    ratios = np.array([width / height for _, _, height, width in windows])
    assert 0.195 < areas.min() < 0.22
    assert 0.48 < areas.max() < 0.505
    assert abs(np.log(ratios).mean()) < 0.05
    assert 0.49 < ratios.min() < ratios.max() < 2.02


@pytest.mark.parametrize(("size", "expected"), [((10, 500), (0, 243, 10, 13)), ((500, 10), (243, 0, 13, 10))])
def test_where_no_window_fits_the_largest_central_one_is_taken(
    size: tuple[int, int], expected: tuple[int, int, int, int]
) -> None:
    record = RandomResizedCrop()
    assert RandomResizedCropping(record).window(size, raw_for(record, 1)[0]) == expected


def test_a_random_resized_crop_is_a_crop_then_a_resize() -> None:
    record = RandomResizedCrop(size=16)
    image, raw = pictures(1, 60, 50), raw_for(record, 1)
    top, left, height, width = RandomResizedCropping(record).window((60, 50), raw[0])
    cut = Image.fromarray(image[0, top : top + height, left : left + width])
    expected = np.asarray(cut.resize((16, 16), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(operation(record).apply(image, raw)[0], expected)


def test_a_random_crop_larger_than_the_padded_image_is_refused() -> None:
    with pytest.raises(DataError, match="random-crop takes 40×40 out of images of 28×28, padded by 4"):
        operation(RandomCrop(size=40)).size((28, 28))
