"""Source name ↔ target name, one transform an entry; the same map carries weights, gradients and moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from luthier.errors import ModelError, nearest
from luthier.weights.transforms import Identity, Transform

__all__ = ["Dropped", "Entry", "WeightMap"]

Arrays = Mapping[str, NDArray[Any]]


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One array's two names, and what is done to it on the way."""

    source: str
    target: str
    transform: Transform = Identity()


class Dropped(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An array of the source that the target has no place for, and what it is filled with on the way back."""

    source: str
    shape: tuple[int, ...] = ()
    dtype: str = "int64"
    value: float = 0.0
    same_as: str | None = None  # the source's array of which this is another name


class WeightMap(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every name occurs once on its side; what the map doesn't know is refused, never left out in silence."""

    entries: tuple[Entry, ...]
    dropped: tuple[Dropped, ...] = ()

    def __post_init__(self) -> None:
        sources = [entry.source for entry in self.entries] + [item.source for item in self.dropped]
        for side, names in (("source", sources), ("target", [entry.target for entry in self.entries])):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"a weight map has the {side} '{twice[0]}' twice")

    def to_target(self, arrays: Arrays, *, linear: bool = False, partial: bool = False) -> dict[str, NDArray[Any]]:
        """The target's arrays by the target's names; `linear` for gradients and moments, `partial` for some of them."""
        self._check(arrays, [entry.source for entry in self.entries], [item.source for item in self.dropped], partial)
        return {
            entry.target: entry.transform.there(arrays[entry.source], linear=linear)
            for entry in self.entries
            if entry.source in arrays
        }

    def to_source(self, arrays: Arrays, *, linear: bool = False, partial: bool = False) -> dict[str, NDArray[Any]]:
        """The source's arrays by the source's names; what was dropped comes back with its fill unless `partial`."""
        self._check(arrays, [entry.target for entry in self.entries], [], partial)
        found = {
            entry.source: entry.transform.back(arrays[entry.target], linear=linear)
            for entry in self.entries
            if entry.target in arrays
        }
        if partial:
            return found
        filled = {item.source: np.full(item.shape, item.value, item.dtype) for item in self.dropped if not item.same_as}
        return found | filled | {item.source: found[item.same_as] for item in self.dropped if item.same_as in found}

    def inverted_names(self) -> dict[str, str]:
        """Each target's source name."""
        return {entry.target: entry.source for entry in self.entries}

    def names(self) -> dict[str, str]:
        """Each source's target name."""
        return {entry.source: entry.target for entry in self.entries}

    @staticmethod
    def _check(arrays: Arrays, needed: list[str], allowed: Iterable[str], partial: bool) -> None:
        foreign = sorted(set(arrays) - set(needed) - set(allowed))
        if foreign:
            raise _mismatch(f"The weight map has no entry for '{foreign[0]}'", foreign, nearest(foreign[0], needed))
        missing = [] if partial else sorted(set(needed) - set(arrays))
        if missing:
            raise _mismatch(f"The weights lack '{missing[0]}'", missing, nearest(missing[0], arrays))


def _mismatch(sentence: str, names: list[str], near: str | None) -> ModelError:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return ModelError(sentence + more, hint=f"The nearest name there is '{near}'." if near else None)
