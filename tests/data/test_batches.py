from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from luthier.data import DataSet, Source, arrays, open_data
from luthier.errors import DataError
from luthier.recipe import Cutout, Data, RandomCrop, RandomFlip, Resize, Transform

AUGMENTED: tuple[Transform, ...] = (RandomCrop(padding=2), RandomFlip(), Cutout(size=3))
Make = Callable[..., Source]
function_scoped = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)


def opened(
    source: Source,
    *,
    batch: int = 8,
    drop: bool = True,
    train: tuple[Transform, ...] = AUGMENTED,
    seed: int = 1,
    rank: int = 0,
    ranks: int = 1,
    accumulate: int = 1,
    mixed: bool = False,
    validation: float = 0.0,
    eval_limit: int = 0,
) -> DataSet:
    config = Data(
        batch_size=batch, drop_remainder=drop, train=train, validation=validation, eval_limit=eval_limit, eval=()
    )
    mixup, cutmix = (0.4, 1.0) if mixed else (0.0, 0.0)
    return open_data(
        config, seed=seed, rank=rank, ranks=ranks, accumulate=accumulate, mixup=mixup, cutmix=cutmix, source=source
    )


def content(data: DataSet, epoch: int = 0, start: int = 0) -> list[tuple[bytes, bytes]]:
    return [(batch.images.tobytes(), batch.labels.tobytes()) for batch in data.train.epoch(epoch, start)]


def numbers(data: DataSet, split: str = "train", epoch: int = 0) -> list[list[int]]:
    """The numbers that `numbered` wrote into the images, batch by batch."""
    return [batch.images[:, 0, 0, 0].tolist() for batch in data.split(split).epoch(epoch)]


def flat(batches: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(batches))


def test_images_are_bytes_and_labels_are_int32_and_both_may_be_written(numbered: Make) -> None:
    batch = next(opened(numbered()).train.epoch(0))
    assert batch.images.dtype == np.uint8
    assert batch.images.shape == (8, 8, 8, 3)
    assert batch.labels.dtype == np.int32
    for array in (batch.images, batch.labels):
        assert array.flags.writeable
        assert array.flags.c_contiguous


def test_writing_into_a_batch_leaves_the_data_alone(numbered: Make) -> None:
    data = opened(numbered(), train=())
    for batch in data.train.epoch(0):
        batch.images[:] = 0
        batch.labels[:] = 0
    assert any(label for batch in data.train.epoch(0) for label in batch.labels)
    assert sum(batch.images.any() for batch in data.train.epoch(0)) == data.train.steps


def test_labels_stay_with_their_images(numbered: Make) -> None:
    data = opened(numbered(), train=())
    for split in ("train", "eval"):
        for batch in data.split(split).epoch(3):
            np.testing.assert_array_equal(batch.images[:, 0, 0, 0] % 5, batch.labels)


def test_an_epoch_shows_every_image_once_in_an_order_of_its_own(numbered: Make) -> None:
    data = opened(numbered(), batch=10, train=())
    orders = [flat(numbers(data, epoch=epoch)) for epoch in range(3)]
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_the_remainder_is_dropped_or_kept_as_asked(numbered: Make) -> None:
    dropped, kept = opened(numbered(), batch=8), opened(numbered(), batch=8, drop=False)
    assert (dropped.train.steps, dropped.train.samples) == (6, 48)
    assert (kept.train.steps, kept.train.samples) == (7, 50)
    assert [len(batch) for batch in kept.train.epoch(0)] == [8] * 6 + [2]


def test_seed_and_epoch_decide_everything(numbered: Make) -> None:
    source = numbered()
    assert content(opened(source), 2) == content(opened(source), 2)
    assert content(opened(source), 2) != content(opened(source), 3)
    assert content(opened(source), 2) != content(opened(source, seed=2), 2)


@given(start=st.integers(0, 6), epoch=st.integers(0, 5), mixed=st.booleans())
@function_scoped
def test_an_epoch_taken_up_at_a_step_goes_on_with_the_same_bytes(
    numbered: Make, start: int, epoch: int, mixed: bool
) -> None:
    data = opened(numbered(), mixed=mixed)
    assert content(data, epoch, start) == content(data, epoch)[start:]


@given(
    ranks=st.integers(1, 4), batch=st.integers(1, 3), drop=st.booleans(), mixed=st.booleans(), epoch=st.integers(0, 3)
)
@function_scoped
def test_ranks_together_see_what_one_rank_with_the_larger_batch_sees(
    numbered: Make, ranks: int, batch: int, drop: bool, mixed: bool, epoch: int
) -> None:
    source, size = numbered(train=48), batch * 2 if mixed else batch
    one = opened(source, batch=size * ranks, mixed=mixed, drop=drop or mixed)
    several = [
        opened(source, batch=size, rank=rank, ranks=ranks, mixed=mixed, drop=drop or mixed) for rank in range(ranks)
    ]
    assert {data.train.steps for data in several} == {one.train.steps}
    assert {data.train.images_per_step for data in several} == {one.train.images_per_step}
    for whole, *shares in zip(one.train.epoch(epoch), *(data.train.epoch(epoch) for data in several), strict=True):
        for rank, share in enumerate(shares):
            np.testing.assert_array_equal(whole.images[rank::ranks], share.images)
            np.testing.assert_array_equal(whole.labels[rank::ranks], share.labels)


@given(count=st.integers(4, 60), ranks=st.integers(1, 4), batch=st.integers(1, 9))
@function_scoped
def test_without_dropping_every_rank_has_as_many_images_and_none_is_left_out(
    numbered: Make, count: int, ranks: int, batch: int
) -> None:
    shares = [
        opened(numbered(train=count), batch=batch, rank=rank, ranks=ranks, drop=False, train=())
        for rank in range(ranks)
    ]
    seen = [numbers(data) for data in shares]
    assert len({tuple(map(len, batches)) for batches in seen}) == 1
    assert {number for batches in seen for batch in batches for number in batch} == set(range(count))
    assert all(data.train.samples == sum(map(len, batches)) for data, batches in zip(shares, seen, strict=True))
    assert all(data.train.steps == len(batches) for data, batches in zip(shares, seen, strict=True))


@given(count=st.integers(4, 60), ranks=st.integers(1, 4), batch=st.integers(1, 9))
@function_scoped
def test_evaluation_keeps_the_order_and_shows_every_image_once_over_all_ranks(
    numbered: Make, count: int, ranks: int, batch: int
) -> None:
    for rank in range(ranks):
        data = opened(numbered(train=40, evaluation=count), batch=batch, rank=rank, ranks=ranks)
        batches = numbers(data, "eval", epoch=7)
        assert flat(batches) == list(range(40 + rank, 40 + count, ranks))
        assert (data.eval.steps, data.eval.samples) == (len(batches), len(flat(batches)))
        assert all(len(part) == batch for part in batches[:-1])


def test_a_step_that_accumulates_takes_the_batches_it_is_made_of(numbered: Make) -> None:
    source = numbered()
    assert content(opened(source, batch=4, accumulate=3)) == content(opened(source, batch=12))
    assert opened(source, batch=4, accumulate=3).eval.steps == 5


def test_the_validation_part_is_apart_from_training_and_transformed_as_evaluation_is(numbered: Make) -> None:
    data = opened(numbered(), batch=4, drop=False, validation=0.2)
    assert data.validation is not None
    held = flat(numbers(data, "validation"))
    plain = opened(numbered(), batch=4, drop=False, validation=0.2, train=())
    trained = flat(numbers(plain))
    assert sorted(held + trained) == list(range(50))
    assert held == sorted(held)
    assert np.bincount(np.array(held) % 5).tolist() == [2] * 5


def test_evaluation_may_be_limited_to_the_first_images(numbered: Make) -> None:
    assert flat(numbers(opened(numbered(), eval_limit=7), "eval")) == list(range(50, 57))


def test_random_transforms_of_evaluation_are_the_same_every_time(numbered: Make) -> None:
    config = Data(batch_size=8, train=(), eval=AUGMENTED)
    data = open_data(config, seed=1, source=numbered())
    first, second = ([batch.images.tobytes() for batch in data.eval.epoch(epoch)] for epoch in (0, 5))
    assert first == second


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_resampling_in_threads_gives_what_one_thread_gives(numbered: Make, workers: int) -> None:
    def run(number: int) -> list[bytes]:
        config = Data(batch_size=20, train=(RandomFlip(), Resize(size=13), RandomCrop()), eval=(), workers=number)
        with open_data(config, seed=1, source=numbered()) as data:
            assert data.shape == (13, 13, 3)
            return [batch.images.tobytes() for batch in data.train.epoch(0)]

    assert run(workers) == run(3)


def test_samples_are_what_the_network_sees_first_and_spread_over_what_it_is_tested_on(numbered: Make) -> None:
    data = opened(numbered(), batch=8)
    samples, first = data.sample("train", 6), next(data.train.epoch(0))
    np.testing.assert_array_equal(samples.images, first.images[:6])
    np.testing.assert_array_equal(samples.labels, first.labels[:6])
    assert data.sample("eval", 5).images[:, 0, 0, 0].tolist() == [50, 54, 58, 62, 66]  # type: ignore[call-overload]
    assert len(data.sample("train", 500).labels) == 50


@pytest.mark.parametrize("start", [-1, 7])
def test_a_step_that_the_epoch_does_not_have_is_refused(numbered: Make, start: int) -> None:
    with pytest.raises(DataError, match=f"Expected a step from 0 to 6, got {start}"):
        opened(numbered()).train.epoch(0, start)


def test_a_part_that_is_not_there_is_refused_with_the_nearest(numbered: Make) -> None:
    data = opened(numbered())
    with pytest.raises(DataError, match="Perhaps you meant 'train'"):
        data.split("trian")
    with pytest.raises(DataError, match=r"data\.validation is 0"):
        data.split("validation")


def test_more_ranks_than_images_are_refused(numbered: Make) -> None:
    with pytest.raises(DataError, match="at most 20 ranks, one an image of the eval part, got 21"):
        opened(numbered(), batch=1, ranks=21)
    with pytest.raises(DataError, match="at most 50 ranks, one an image of the train part, got 51"):
        opened(numbered(), batch=1, ranks=51, drop=False)


@pytest.mark.parametrize("rank", [-1, 2])
def test_a_rank_that_is_not_one_of_the_ranks_is_refused(numbered: Make, rank: int) -> None:
    with pytest.raises(DataError, match=f"Expected a rank from 0 to 1, got {rank}"):
        opened(numbered(), rank=rank, ranks=2)


def test_a_step_larger_than_the_training_part_is_refused_where_the_remainder_is_dropped(numbered: Make) -> None:
    with pytest.raises(DataError, match=r"takes 64 images .* has 50(.|\n)*drop_remainder = false"):
        opened(numbered(), batch=8, accumulate=4, ranks=2)
    assert opened(numbered(), batch=64, drop=False).train.steps == 1


def test_normalisation_for_other_channels_is_refused(numbered: Make) -> None:
    with pytest.raises(
        DataError, match=r"Expected 1 number, one a channel of the images, got 3 - at data\.normalize\.mean"
    ):
        opened(numbered(shape=(8, 8, 1)))


def test_a_recipe_gives_the_same_bytes_in_every_version() -> None:
    images = (np.arange(60 * 8 * 8 * 3) % 251).astype(np.uint8).reshape(60, 8, 8, 3)
    labels = np.arange(60) % 5
    data = opened(arrays(images, labels, images, labels))
    batch = next(data.train.epoch(3))
    assert batch.labels.tolist() == [1, 4, 0, 4, 1, 1, 0, 3]
    assert crc32(batch.images.tobytes()) == 3295854470
