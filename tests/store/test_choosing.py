"""Which of a run's checkpoints is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from luthier.errors import RecipeError, StoreError
from luthier.store import chosen_checkpoint
from tests.compress.making import make_run


def test_checkpoints_are_named_last_best_or_by_step(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert [chosen_checkpoint(run, which).name[-3:] for which in ("last", "best", 40, "40", "step-00000080")] == [
        *("120", "080", "040", "040", "080")
    ]


@pytest.mark.parametrize(
    ("which", "told"),
    [
        (41, r"has no checkpoint of step 41 - at .*\n  Known: last, best, 40, 80, 120\."),
        ("41", "has no checkpoint of step 41"),
        ("lst", r"has no checkpoint 'lst' - at .*\n  Perhaps you meant 'last'\."),
        ("first", r"has no checkpoint 'first' - at .*\n  .*40, 80, 120"),
    ],
)
def test_an_unknown_checkpoint_names_those_that_there_are(tmp_path: Path, which: str | int, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        chosen_checkpoint(make_run(tmp_path), which)


def test_a_run_without_checkpoints_or_without_a_best_one_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no checkpoint yet"):
        chosen_checkpoint(make_run(tmp_path, steps=()), "last")
    with pytest.raises(RecipeError, match=r"has no checkpoint 'best' - at .*\n  Known: last, best, 40"):
        chosen_checkpoint(make_run(tmp_path, best=None), "best")
