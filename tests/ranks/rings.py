"""Ranks that are threads of this process, for what they say to one another alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

__all__ = ["Ring", "by_ranks"]


class Ring:
    """One of several, each in a thread."""

    backend: str | None = "threads"

    def __init__(self, rank: int, ranks: int, barrier: Barrier, table: dict[int, bytes]) -> None:
        self.rank, self.ranks = rank, ranks
        self.asks_to_stop = self.stop_was_asked = False
        self._barrier, self._table = barrier, table

    def gather(self, payload: bytes) -> list[bytes]:
        self._table[self.rank] = payload
        self._barrier.wait(20)
        found = [self._table[rank] for rank in range(self.ranks)]
        self._barrier.wait(20)
        return found

    def fail(self, sentence: str) -> None:
        pass

    def close(self) -> None:
        pass


def by_ranks(number: int, action: Callable[[Ring], Any]) -> list[Any]:
    """What each rank's action gave, or the exception that it raised."""
    barrier, table = Barrier(number), dict[int, bytes]()

    def attempt(rank: int) -> Any:
        try:
            return action(Ring(rank, number, barrier, table))
        except Exception as error:
            return error

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(attempt, range(number)))
