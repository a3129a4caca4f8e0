"""Several ranks as one: what one of them does for all, and what must not differ between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from luthier.engines import Arrays, Group, open_group
from luthier.errors import LuthierError, TrainingError
from luthier.recipe import Recipe
from luthier.store import EventWriter, Run

__all__ = [
    "NoEvents",
    "each",
    "first",
    "gathered",
    "of_rank",
    "of_the_others",
    "require_as_many",
    "require_same_weights",
    "shown_by",
    "together",
]

Given = TypeVar("Given")
PREFIX = "ranks/"


class NoEvents(EventWriter):
    """What a rank has that writes nothing, since the first one writes."""

    def __init__(self) -> None:
        """No file."""

    def _record(self, values: bytes, step: int, wall_time: float | None) -> None:
        """Nothing to keep."""

    def flush(self) -> int:
        """Of no length."""
        return 0

    def close(self) -> None:
        """Nothing was opened."""


def gathered(group: Group, value: Any) -> list[Any]:
    """What JSON can carry, from every rank to every rank."""
    if group.ranks == 1:
        return [value]
    return [msgspec.json.decode(payload) for payload in group.gather(msgspec.json.encode(value))]


def each(group: Group, action: Callable[[], Given]) -> Given:
    """All do it; where one fails all fail, at the same point, and one of them tells why."""
    if group.ranks == 1:
        return action()
    given: Given | None = None
    failed: Exception | None = None
    try:
        given = action()
    except Exception as fault:  # whatever it is, the others must not wait for this rank
        failed = fault
    faults = gathered(group, _sentence(failed) if failed else None)
    culprits = [rank for rank, fault in enumerate(faults) if fault is not None]
    if culprits:
        error = failed or TrainingError(f"Rank {culprits[0]} failed: {faults[culprits[0]]}")
        raise shown_by(group, error, rank=culprits[0])
    return cast(Given, given)


def first(group: Group, action: Callable[[], Any]) -> Any:
    """Rank 0 does it for all, and all have what JSON makes of its value."""
    value = each(group, lambda: action() if group.rank == 0 else None)
    return gathered(group, value)[0]


def _sentence(fault: Exception) -> str:
    return fault.sentence if isinstance(fault, LuthierError) else repr(fault)


def shown_by(group: Group, error: Exception, *, rank: int = 0) -> Exception:
    """An error that every rank has is told by one of them."""
    if isinstance(error, LuthierError):
        error.told_elsewhere = error.told_elsewhere or group.rank != rank
        error.known_to_all = True
    return error


@contextmanager
def together(recipe: Recipe) -> Iterator[Group]:
    """With the other ranks, where a launcher started several; who fails alone says so before it leaves."""
    group = open_group(recipe)
    try:
        yield group
    except Exception as error:
        if not (isinstance(error, LuthierError) and error.known_to_all):
            group.fail(_sentence(error))
        raise
    finally:
        group.close()


def require_as_many(run: Run, group: Group) -> None:
    """Each rank takes its share of a batch: with another number of ranks the joint batch would be another."""
    before, size = run.environment().ranks, run.recipe.data.batch_size
    if group.ranks != before:
        error = TrainingError(
            f"{run.name} was begun by {_ranks(before)} of {size} images a batch, and would not be the same run with "
            f"{group.ranks}",
            hint=f"Go on with {_ranks(before)}, or begin a new run with --from {run.path}",
        )
        raise shown_by(group, error)


def _ranks(number: int) -> str:
    return f"{number} rank{'s' * (number != 1)}"


def require_same_weights(group: Group, state: Arrays) -> None:
    """A user's factory may draw weights from what the seed does not reach; summed gradients would then mean nothing."""
    different = _differing(group, {name: array for name, array in state.items() if name.startswith("model/")})
    if different:
        error = TrainingError(
            f"The first weights differ between the ranks: {different[0].removeprefix('model/')}",
            at="model.name",
            hint="They must depend on the seed alone: draw them from the framework's own generator.",
        )
        raise shown_by(group, error)


def of_the_others(group: Group, state: Arrays) -> Arrays:
    """What other ranks have of their own (random numbers, say), as `ranks/<rank>/<key>`."""
    if group.ranks == 1:
        return {}
    names = _differing(group, state)
    rows = [_unpacked(payload) for payload in group.gather(_packed({name: state[name] for name in names}))]
    return {f"{PREFIX}{rank}/{name}": array for rank, row in enumerate(rows) if rank for name, array in row.items()}


def of_rank(rank: int, state: Mapping[str, NDArray[Any]]) -> Arrays:
    """A saved state as a rank has it."""
    own = f"{PREFIX}{rank}/"
    common = {name: array for name, array in state.items() if not name.startswith(PREFIX)}
    return common | {name.removeprefix(own): array for name, array in state.items() if name.startswith(own)}


def _differing(group: Group, state: Arrays) -> list[str]:
    if group.ranks == 1:
        return []
    digests = {name: blake2b(array.tobytes(), digest_size=16).hexdigest() for name, array in state.items()}
    rows = gathered(group, digests)
    return [name for name in digests if any(row.get(name) != digests[name] for row in rows)]


def _packed(arrays: Arrays) -> bytes:
    plain = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}
    return msgspec.msgpack.encode(plain)


def _unpacked(payload: bytes) -> Arrays:
    plain = msgspec.msgpack.decode(payload)
    return {name: np.frombuffer(data, dtype).reshape(shape).copy() for name, (dtype, shape, data) in plain.items()}
