from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from luthier.store import Run, latest_checkpoint, load_checkpoint, open_run, prune_checkpoints, save_checkpoint


def save(run: Run, step: int) -> Path:
    return save_checkpoint(run, step, {}, {}, {})


def steps(run: Run) -> list[int]:
    return [load_checkpoint(path).step for path in run.checkpoints()]


def hidden(run: Run) -> list[Path]:
    return list(run.path.rglob(".*"))


def test_a_new_run_has_none(run: Run) -> None:
    assert run.checkpoints() == []
    assert latest_checkpoint(run) is None
    assert prune_checkpoints(run, keep=1) == []


def test_the_order_is_that_of_the_steps_also_beyond_eight_digits(run: Run) -> None:
    for step in (5, 123_456_789, 99_999_999):
        save(run, step)
    assert steps(run) == [5, 99_999_999, 123_456_789]
    assert latest_checkpoint(run) == run.path / "checkpoints" / "step-123456789"


@pytest.mark.parametrize(
    ("keep", "best", "left"),
    [(2, None, [4, 5]), (2, 1, [1, 4, 5]), (2, 5, [4, 5]), (9, 1, [1, 2, 3, 4, 5]), (1, 7, [5])],
)
def test_the_last_ones_and_the_best_stay(run: Run, keep: int, best: int | None, left: list[int]) -> None:
    for step in range(1, 6):
        save(run, step)
    removed = prune_checkpoints(run, keep=keep, best=best)
    assert steps(run) == left
    assert len(removed) == 5 - len(left)
    assert not hidden(run)


class TestLeftoversOfAKilledProcess:
    @pytest.fixture
    def littered(self, run: Run) -> Run:
        whole = save(run, 1)
        shutil.copytree(whole, whole.with_name(".step-00000002.partial"))
        (whole.with_name(".step-00000002.partial") / "progress.json").unlink()
        (run.path / ".result.json.partial").write_text("{")
        return run

    def test_they_are_no_checkpoints(self, littered: Run) -> None:
        assert steps(littered) == [1]

    def test_the_next_save_removes_them(self, littered: Run) -> None:
        save(littered, 2)
        assert steps(littered) == [1, 2]
        assert not hidden(littered)

    def test_opening_the_run_to_write_removes_them(self, littered: Run) -> None:
        open_run(littered.path)
        assert hidden(littered)
        open_run(littered.path, writing=True)
        assert not hidden(littered)

    def test_one_that_was_being_replaced_is_given_back_its_name(self, run: Run) -> None:
        whole = save(run, 1)
        whole.rename(whole.with_name(".step-00000001.replaced"))
        open_run(run.path, writing=True)
        assert steps(run) == [1]

    def test_one_that_was_replaced_goes(self, run: Run) -> None:
        whole = save(run, 1)
        shutil.copytree(whole, whole.with_name(".step-00000001.replaced"))
        save(run, 2)
        assert not hidden(run)
