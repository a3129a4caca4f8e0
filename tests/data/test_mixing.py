from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from luthier.data import Batch, Source, open_data
from luthier.data.loading import Loaded
from luthier.data.mixing import Mixing
from luthier.recipe import Data

Make = Callable[..., Source]


def plain(count: int = 6, size: int = 8) -> Loaded:
    images = np.random.default_rng(0).integers(0, 256, (count, size, size, 3), dtype=np.uint8)
    return Loaded(images, np.arange(count, dtype=np.int32) % 3)


def mixed(loaded: Loaded, *, mixup: float = 0.0, cutmix: float = 0.0, steps: int = 200) -> list[Batch]:
    epoch = Mixing(mixup=mixup, cutmix=cutmix, num_classes=3, seed=1).epoch(0, steps)
    return [epoch.batch(step, loaded) for step in range(steps)]


def share_of(batch: Batch, labels: NDArray[np.int32]) -> float:
    """The first image's share of its own label; its partner's differs."""
    return float(batch.labels[0, labels[0]])


def test_rows_of_labels_are_float32_and_sum_to_one() -> None:
    for batch in mixed(plain(), mixup=0.2, cutmix=1.0):
        assert batch.labels.dtype == np.float32
        assert batch.labels.shape == (6, 3)
        np.testing.assert_allclose(batch.labels.sum(axis=1), 1, atol=1e-6)


def test_mixup_blends_each_image_with_the_one_half_a_batch_on_by_the_labels_own_share() -> None:
    loaded = plain(count=5)
    partners = np.roll(loaded.images, -2, axis=0)
    for batch in mixed(loaded, mixup=1.0):
        share = share_of(batch, loaded.labels)
        expected = loaded.images * share + partners * (1 - share)
        np.testing.assert_allclose(batch.images, expected, atol=0.501)


def test_cutmix_takes_a_window_from_the_partner_and_its_area_from_the_label() -> None:
    loaded = plain(count=5)
    partners = np.roll(loaded.images, -2, axis=0)
    for batch in mixed(loaded, cutmix=1.0):
        foreign = (batch.images != loaded.images).any(axis=(0, 3))
        np.testing.assert_array_equal(batch.images[:, foreign], partners[:, foreign])
        rows, columns = np.flatnonzero(foreign.any(axis=1)), np.flatnonzero(foreign.any(axis=0))
        assert foreign.sum() == len(rows) * len(columns)
        assert share_of(batch, loaded.labels) == pytest.approx(1 - foreign.mean(), abs=1e-6)


def test_an_image_that_is_its_own_partner_stays_what_it_is() -> None:
    loaded = plain(count=1)
    for batch in mixed(loaded, mixup=1.0, cutmix=1.0):
        np.testing.assert_array_equal(batch.images, loaded.images)
        assert batch.labels.tolist() == [[1.0, 0.0, 0.0]]


def test_shares_follow_the_beta_distribution() -> None:
    loaded = plain(count=5)
    shares = np.array([share_of(batch, loaded.labels) for batch in mixed(loaded, mixup=0.2, steps=2000)])
    assert abs(shares.mean() - 0.5) < 0.03
    assert abs(shares.var() - 0.25 / 1.4) < 0.01  # a²/((2a)²(2a+1)) at 0.2


def test_where_both_are_asked_for_each_has_half_of_the_batches() -> None:
    loaded = plain()
    whole = [bool((batch.images == loaded.images).all(axis=(0, 3)).any()) for batch in mixed(loaded, mixup=1, cutmix=1)]
    assert 0.3 < np.mean(whole) < 0.7


def test_training_alone_is_mixed(numbered: Make) -> None:
    data = open_data(Data(batch_size=8, train=(), validation=0.2), seed=1, mixup=0.2, source=numbered())
    assert data.validation is not None
    assert next(data.train.epoch(0)).labels.shape == (8, 5)
    assert next(data.eval.epoch(0)).labels.shape == (8,)
    assert next(data.validation.epoch(0)).labels.shape == (8,)
    assert data.sample("train", 4).labels.shape == (4,)
