"""What ranks say to one another: shares, faults, and what differs between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from luthier.data import open_data
from luthier.engines import Arrays, Group
from luthier.errors import DataError, StoreError, TrainingError
from luthier.recipe import load
from luthier.training.evaluation import evaluate, evaluate_together
from luthier.training.together import each, first, of_rank, of_the_others, require_same_weights
from tests.ranks.rings import by_ranks


def test_all_learn_what_the_first_did() -> None:
    done: list[int] = []

    def action(group: Group) -> Any:
        def work() -> list[str | int]:
            done.append(group.rank)
            return ["a run", 7]

        return first(group, work)

    assert by_ranks(3, action) == [["a run", 7]] * 3
    assert done == [0]


def test_where_one_fails_all_fail_and_one_tells() -> None:
    def action(group: Group) -> None:
        def work() -> None:
            if group.rank == 1:
                raise StoreError("No room is left", at="disk", hint="Make room.")

        each(group, work)

    errors = by_ranks(3, action)
    assert [error.told_elsewhere for error in errors] == [True, False, True]
    assert isinstance(errors[1], StoreError)
    assert str(errors[0]) == "Rank 1 failed: No room is left"
    assert all(error.known_to_all for error in errors)


def test_what_all_find_wrong_the_first_tells() -> None:
    def action(group: Group) -> None:
        def work() -> None:
            raise DataError("No such folder")

        each(group, work)

    errors = by_ranks(2, action)
    assert [type(error) for error in errors] == [DataError, DataError]
    assert [error.told_elsewhere for error in errors] == [False, True]


def test_a_fault_of_ours_keeps_its_type_where_it_happened() -> None:
    def action(group: Group) -> None:
        each(group, lambda: 1 // group.rank)

    zero, other = by_ranks(2, action)
    assert isinstance(zero, ZeroDivisionError)
    assert isinstance(other, TrainingError)
    assert "ZeroDivisionError" in str(other)


def state_of(rank: int) -> Arrays:
    return {
        "model/weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "model/count": np.array(4),
        "rng/torch": np.full(5, rank, np.uint8),
    }


def test_a_checkpoint_holds_what_each_rank_has_of_its_own() -> None:
    found = by_ranks(3, lambda group: of_the_others(group, state_of(group.rank)))
    assert found[0].keys() == {"ranks/1/rng/torch", "ranks/2/rng/torch"}
    saved = state_of(0) | found[0]
    for rank in range(3):
        restored = of_rank(rank, saved)
        assert restored.keys() == state_of(rank).keys()
        assert all(np.array_equal(restored[key], array) for key, array in state_of(rank).items())


def test_a_network_that_the_seed_does_not_reach_is_refused() -> None:
    def action(group: Group) -> None:
        require_same_weights(group, {"model/a": np.ones(2), "model/b": np.full(3, group.rank)})

    errors = by_ranks(2, action)
    assert "The first weights differ between the ranks: b" in str(errors[0])
    assert [error.told_elsewhere for error in errors] == [False, True]


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_evaluate_together_to_the_bits_of_one(ranks: int) -> None:
    """Whatever the shares are: 359 images divide neither by two nor by three."""
    config = load("lenet5-digits", ["data.eval_limit=359", "data.batch_size=50"]).data
    weights = np.random.default_rng(1).normal(size=(28 * 28, 10)) / 500

    def logits(images: Any) -> Any:
        flat = images.reshape(len(images), -1).astype(np.float64)
        return np.stack([flat[:, : len(weights)][i] @ weights[: flat.shape[1]] for i in range(len(flat))])

    def action(group: Group) -> Any:
        with open_data(config, seed=1, rank=group.rank, ranks=group.ranks) as data:
            return evaluate_together(logits, data.eval, group), evaluate(logits, data.eval.of_all_ranks())

    with open_data(config, seed=1) as data:
        alone = evaluate(logits, data.eval)
    assert alone.samples == 359
    assert by_ranks(ranks, action) == [(alone, alone)] * ranks


def test_more_ranks_than_images_is_one_sentence(tmp_path: Path) -> None:
    config = load("lenet5-digits", ["data.eval_limit=2", "data.batch_size=1"]).data
    with pytest.raises(DataError, match="Expected at most 2 ranks, one an image of the eval part, got 3"):
        open_data(config, seed=1, rank=2, ranks=3)
