"""What every searcher must do."""

from __future__ import annotations

from math import log10
from typing import Any

from luthier.recipe import Range
from luthier.tuning import Observation, Searcher, Space, Values

__all__ = ["SearcherContract"]

SPACE = Space(
    {
        "dropout": Range(real=(0.0, 0.5)),
        "rate": Range(log=(1e-3, 1.0)),
        "depth": Range(integer=(1, 4)),
        "dense": Range(choice=([84], [120, 84])),
        "momentum": Range(choice=(0.8, 0.9), when={"optimizer": ("momentum",)}),
        "optimizer": Range(choice=("momentum", "sgd")),
    }
)


def worth(values: Values) -> float:
    """A score that a rate near 0.1 and a depth of 3 make best."""
    return float(-abs(log10(values["rate"]) + 1) - 0.3 * abs(values["depth"] - 3))


class SearcherContract:
    """Derive, and give `make`."""

    def make(self, seed: int = 0) -> Searcher:
        """A fresh searcher over `SPACE`."""
        raise NotImplementedError

    def searched(self, searcher: Searcher, count: int) -> list[Values]:
        """Asked and told so many times."""
        asked = []
        for number in range(1, count + 1):
            values = searcher.ask(number)
            assert values is not None
            searcher.tell(number, Observation(values=values))
            searcher.report(number, 0.5, worth(values) - 0.1)
            searcher.tell(number, Observation(values=values, progress=1.0, score=worth(values), done=True))
            asked.append(values)
        return asked

    def test_whatever_it_asks_for_could_have_been_drawn(self) -> None:
        """Conditions included."""
        for values in self.searched(self.make(), 12):
            assert SPACE.holds(values), values

    def test_the_same_seed_and_the_same_news_ask_the_same(self) -> None:
        """A study that goes on tells a new searcher all that is known."""
        first, second = self.make(), self.make()
        for number, values in enumerate(self.searched(first, 11), start=1):
            second.tell(number, Observation(values=values, progress=1.0, score=worth(values), done=True))
        assert first.ask(12) == second.ask(12)

    def test_it_does_not_ask_the_same_again_and_again(self) -> None:
        """Ten trials are not one."""
        assert len({repr(values) for values in self.searched(self.make(), 10)}) > 5

    def test_a_trial_that_failed_or_is_under_way_does_not_stop_it(self) -> None:
        """Nor one that knows nothing of some fields, such as a recipe's own values."""
        searcher = self.make()
        searcher.tell(0, Observation(values={"depth": 2}, progress=1.0, score=-2.0, done=True))
        for number in range(1, 13):
            values: Any = searcher.ask(number)
            assert SPACE.holds(values)
            bad = Observation(values=values, progress=0.1, score=-9.0, done=True, violation=1.0)
            searcher.tell(number, Observation(values=values) if number % 2 else bad)
