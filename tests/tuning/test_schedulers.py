"""Who goes on, who waits, who stops."""

from __future__ import annotations

import pytest

from luthier.errors import RecipeError
from luthier.tuning import Halving, Hyperband, MedianStopping, Scheduler, make_scheduler

RUNG = 1 / 27


def test_of_the_first_two_the_better_goes_on_and_of_many_a_third() -> None:
    halving = Halving()
    assert halving.report(1, RUNG, 9.0) == "pause", "there is nothing to compare it with"
    assert halving.resumable() is None
    assert halving.report(2, RUNG, 8.0) == "pause"
    assert halving.resumable() == 1
    told = [halving.report(number, RUNG, float(9 - number)) for number in range(3, 11)]
    assert told == ["pause"] * 8
    while halving.resumable() is not None:
        pass
    assert halving.report(11, RUNG, 11.0) == "go"
    assert halving.report(12, RUNG, 10.5) == "go"


def test_the_recipe_itself_is_compared_with_but_never_paused_nor_called() -> None:
    """It runs while others come and go: called back it would be trained twice at once."""
    halving = Halving()
    assert halving.report(1, RUNG, 5.0) == "pause"
    assert halving.report(0, RUNG, 1.0) == "go"
    assert halving.resumable() == 1
    for number in range(2, 6):
        halving.report(number, RUNG, 0.0)
    assert halving.resumable() is None
    assert halving.report(0, 1 / 9, 1.0) == "go"


def test_who_waits_is_called_once_enough_others_have_come() -> None:
    halving = Halving()
    for number, score in enumerate([9.0, 8.0, 1.0, 2.0, 3.0]):
        halving.report(number, RUNG, score)
    assert halving.resumable() is None, "one of five goes on, and has"
    halving.report(5, RUNG, 4.0)
    assert halving.resumable() == 1
    assert halving.resumable() is None, "it is called once"


def test_a_higher_rung_comes_first() -> None:
    halving = Halving()
    for number in range(6):
        halving.report(number, RUNG, float(number))
    while halving.resumable() is not None:
        pass
    for number in (3, 4, 5):
        halving.report(number, 1 / 9, float(number))
    assert halving.report(0, 1.0, 1.0) == "go", "at its end nobody is judged"


def test_reports_between_the_rungs_change_nothing() -> None:
    halving = Halving()
    halving.report(0, RUNG, 5.0)
    assert halving.report(1, RUNG, 4.0) == "pause"
    assert halving.report(0, 0.05, 0.0) == "go"
    assert halving.report(0, 0.06, -9.0) == "go"


def test_who_has_failed_is_not_called() -> None:
    halving = Halving()
    for number, score in enumerate([9.0, 8.0, 7.0]):
        halving.report(number, RUNG, score)
    halving.ended(1)
    for number in range(3, 8):
        halving.report(number, RUNG, 0.0)
    assert halving.resumable() is None


def test_hyperband_judges_some_later() -> None:
    band = Hyperband()
    for number in range(40):
        band.report(number, 1.0, 50.0)
    told = [band.report(number, RUNG, float(-number)) for number in range(40)]
    assert 5 < told.count("go") < 35


def test_median_stops_the_worse_half_after_a_grace() -> None:
    stopping = MedianStopping()
    for number in range(5):
        for progress in (0.05, 0.5):
            assert stopping.report(number, progress, 10.0 + number) == "go"
    assert stopping.report(9, 0.05, 0.0) == "go"
    assert stopping.report(9, 0.5, 11.0) == "stop"
    assert stopping.report(10, 0.5, 13.0) == "go"
    assert stopping.report(11, 1.0, 0.0) == "go", "at its end there is nothing to save"


@pytest.mark.parametrize("name", ["halving", "hyperband", "median", "none"])
def test_every_scheduler_answers_alike_when_it_is_told_again(name: str) -> None:
    """A study that goes on replays its journal."""

    def told(scheduler: Scheduler) -> list[object]:
        found: list[object] = []
        for number in range(12):
            for progress in (RUNG, 1 / 9, 1 / 3, 1.0):
                decision = scheduler.report(number, progress, (number * 7 % 5) + progress)
                found.append(decision)
                if decision != "go":
                    break
            found.append(scheduler.resumable())
        return found

    assert told(make_scheduler(name)) == told(make_scheduler(name))


def test_an_unknown_one_is_named_with_the_nearest() -> None:
    with pytest.raises(RecipeError, match="Perhaps you meant 'halving'"):
        make_scheduler("halvin")
