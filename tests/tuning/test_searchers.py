"""Every searcher against the one contract, and what each is for."""

from __future__ import annotations

from statistics import mean

import pytest

from luthier.errors import MissingPackage, RecipeError
from luthier.recipe import Range
from luthier.testing import SearcherContract
from luthier.testing.searcher_contract import SPACE, worth
from luthier.tuning import Observation, Searcher, Space, Values, make_searcher
from luthier.tuning.searchers import Memory, OneAtATime


class TestRandom(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return make_searcher("random", SPACE, seed)


class TestGrid(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return make_searcher("grid", SPACE, seed)

    def test_it_ends_when_all_was_tried(self) -> None:
        space = Space({"a": Range(choice=(1, 2)), "b": Range(choice=("x", "y"), when={"a": (2,)})})
        grid = make_searcher("grid", space, 0)
        asked = [grid.ask(number) for number in range(1, 5)]
        assert asked.pop() is None
        assert sorted(map(repr, asked)) == ["{'a': 1}", "{'a': 2, 'b': 'x'}", "{'a': 2, 'b': 'y'}"]


class TestSelector(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return OneAtATime(SPACE, seed)

    def test_it_climbs_one_field_at_a_time_and_ends(self) -> None:
        searcher, best, count = self.make(), -99.0, 0
        while (values := searcher.ask(count + 1)) is not None:
            count += 1
            best = max(best, worth(values))
            searcher.tell(count, Observation(values=values, progress=1.0, score=worth(values), done=True))
            assert count < 60
        assert best > -0.2


class TestTpe(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return make_searcher("tpe", SPACE, seed)


class TestGp(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return make_searcher("gp", SPACE, seed)


class TestNsga2(SearcherContract):
    def make(self, seed: int = 0) -> Searcher:
        return make_searcher("nsga2", SPACE, seed)

    def test_later_generations_move_towards_the_front(self) -> None:
        """Large against small: only widths between the two ends of the trade are worth having."""
        space = Space({"x": Range(real=(-4.0, 4.0)), "y": Range(real=(-4.0, 4.0))})
        searcher = make_searcher("nsga2", space, 1, objectives=2)

        def told(values: Values) -> tuple[float, float]:
            off = abs(values["y"])
            return (-((values["x"] - 1) ** 2) - off, -((values["x"] + 1) ** 2) - off)

        gaps = []
        for number in range(1, 101):
            values = searcher.ask(number)
            assert values is not None
            gaps.append(abs(values["y"]))
            both = told(values)
            searcher.tell(number, Observation(values=values, progress=1, score=sum(both), objectives=both, done=True))
        assert mean(gaps[-30:]) < 0.85 * mean(gaps[:20])


def test_a_model_learns_where_chance_does_not() -> None:
    def best(kind: str, seed: int) -> float:
        searched = SearcherContract().searched(make_searcher(kind, SPACE, seed), 45)
        return max(map(worth, searched[25:]))

    seeds = range(2)
    assert mean(best("tpe", seed) for seed in seeds) > mean(best("random", seed) for seed in seeds)


@pytest.mark.parametrize("kind", ["tpe", "gp"])
def test_a_model_asks_for_nothing_twice_and_ends_when_all_was_tried(kind: str) -> None:
    """The same training again tells nothing: with a seed of its own each trial's comes to the same bits."""
    space = Space({"a": Range(choice=(1, 2, 3)), "b": Range(choice=("x", "y"), when={"a": (2, 3)})})
    searcher = make_searcher(kind, space, 0)
    asked: list[Values] = []
    while (values := searcher.ask(len(asked))) is not None:
        assert values not in asked
        asked.append(values)
        searcher.tell(len(asked) - 1, Observation(values=values, progress=1.0, score=float(values["a"]), done=True))
    assert len(asked) == 5


def test_what_is_remembered_does_not_grow_and_keeps_the_best() -> None:
    memory = Memory(kept=100)
    for number in range(1000):
        score = 50.0 if number == 3 else float(number % 17)
        memory.tell(number, Observation(values={}, progress=1.0, score=score, done=True))
    assert len(memory.trials) <= 100
    assert 3 in memory.trials
    assert 999 in memory.trials


def test_an_unknown_searcher_is_named_with_the_nearest() -> None:
    with pytest.raises(RecipeError, match="Perhaps you meant 'random'"):
        make_searcher("randm", SPACE, 0)


def test_without_optuna_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(MissingPackage, match=r"pip install 'luthier\[tune\]'"):
        make_searcher("tpe", SPACE, 0)
