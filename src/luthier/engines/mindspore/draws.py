"""Random functions of `ops` whose state is one number that can be saved: MindSpore's own lies within its kernels.

In a graph a kernel is seeded once, when it is compiled, and neither `set_seed` nor `set_rng_state` reaches it again.
So a user's own Cell finds ours under the functions' names for as long as it runs.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype

from luthier.engines.mindspore.dropout import BITS, GOLDEN, first_key, hashed, size_of
from luthier.engines.mindspore.parameters import put

__all__ = ["Draws"]

NAME = "luthier.draws"  # no attribute of a Cell has a dot


class Drawing(nn.Cell):
    """A function of MindSpore's, under its own arguments; all of them move the same key on."""

    def __init__(self, key: Parameter) -> None:
        super().__init__(auto_prefix=False)
        self.key = key

    def words(self, count: int, seed: int | None) -> Tensor:
        """Whole numbers of 24 bits; a seed of the user's own makes them others."""
        drawn = hashed(count, self.key if seed is None else self.key + seed)
        moved = ops.assign(self.key, ops.depend(self.key + GOLDEN, drawn))  # a graph may write before it has read
        return ops.depend(drawn, moved)

    def fractions(self, shape: tuple[int, ...], seed: int | None = None) -> Tensor:
        """At least 0 and below 1."""
        return (self.words(size_of(shape), seed).astype(mstype.float32) * 2.0**-BITS).reshape(shape)

    def normals(self, shape: tuple[int, ...], seed: int | None = None) -> Tensor:
        """Of mean 0 and deviation 1, two numbers to one as Box and Muller have it."""
        count = size_of(shape)
        drawn = (self.words(2 * count, seed).astype(mstype.float32) + 1.0) * 2.0**-BITS
        length, angle = ops.sqrt(-2.0 * ops.log(drawn[:count])), drawn[count:] * (2.0 * math.pi)
        return (length * ops.cos(angle)).reshape(shape)

    def dropped(self, x: Tensor, shape: tuple[int, ...], p: float, seed: int | None = None) -> Tensor:
        """What is kept is scaled by 1/(1 − p)."""
        if p >= 1.0:
            return ops.zeros_like(x)
        kept = self.fractions(shape, seed) >= p
        return x * ops.stop_gradient(kept.astype(x.dtype) * (1.0 / (1.0 - p)))


class DropoutOf(Drawing):
    """`ops.dropout`."""

    def construct(self, input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:  # noqa: A002
        """Single values."""
        return self.dropped(input, input.shape, p, seed) if training else input


class ChannelDropoutOf(Drawing):
    """`ops.dropout1d` to `ops.dropout3d`, which take an array with or without images."""

    def __init__(self, key: Parameter, dimensions: int) -> None:
        super().__init__(key)
        self.dimensions = dimensions

    def construct(self, input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:  # noqa: A002
        """Whole channels."""
        if not training:
            return input
        ones = (1,) * self.dimensions
        return self.dropped(input, input.shape[: input.ndim - self.dimensions] + ones, p)


class BernoulliOf(Drawing):
    """`ops.bernoulli`."""

    def construct(self, input: Tensor, p: float | Tensor = 0.5, seed: int | None = None) -> Tensor:  # noqa: A002
        """Ones with probability `p`."""
        return (self.fractions(input.shape, seed) < p).astype(input.dtype)


class UniformOf(Drawing):
    """`ops.uniform`."""

    def construct(
        self,
        shape: tuple[int, ...],
        minval: Tensor,
        maxval: Tensor,
        seed: int | None = None,
        dtype: Any = mstype.float32,
    ) -> Tensor:
        """Whole numbers are asked for by their dtype."""
        drawn = self.fractions(shape, seed) * (maxval - minval) + minval
        return ops.floor(drawn).astype(dtype) if dtype == mstype.int32 else drawn.astype(dtype)


class NormalOf(Drawing):
    """`ops.normal`."""

    def construct(self, shape: tuple[int, ...], mean: Any, stddev: Any, seed: int | None = None) -> Tensor:
        """The deviation times a standard one."""
        return self.normals(shape, seed) * stddev + mean


class StandardNormalOf(Drawing):
    """`ops.standard_normal`."""

    def construct(self, shape: tuple[int, ...], seed: int | None = None) -> Tensor:
        """One of mean 0 and deviation 1."""
        return self.normals(shape, seed)


class ArrayOf(Drawing):
    """`ops.rand` and `ops.randn`."""

    def __init__(self, key: Parameter, *, normal: bool) -> None:
        super().__init__(key)
        self.normal = normal

    def construct(self, *size: Any, dtype: Any = None, seed: int | None = None) -> Tensor:
        """A size comes as numbers or as a tuple."""
        shape = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
        drawn = self.normals(tuple(shape), seed) if self.normal else self.fractions(tuple(shape), seed)
        return drawn if dtype is None else drawn.astype(dtype)


class ArrayLike(Drawing):
    """`ops.rand_like` and `ops.randn_like`."""

    def __init__(self, key: Parameter, *, normal: bool) -> None:
        super().__init__(key)
        self.normal = normal

    def construct(self, input: Tensor, seed: int | None = None, *, dtype: Any = None) -> Tensor:  # noqa: A002
        """Of another's shape, and its dtype where none is asked for."""
        drawn = self.normals(input.shape, seed) if self.normal else self.fractions(input.shape, seed)
        return drawn.astype(input.dtype if dtype is None else dtype)


class Draws:
    """A user's own network among functions that draw from one saved key."""

    def __init__(self, seed: int) -> None:
        self.key = Parameter(Tensor(first_key(seed, NAME), mstype.int32), name=NAME, requires_grad=False)
        self._places = _places(_ours(self.key))

    @contextmanager
    def in_place(self, *, kept: bool) -> Iterator[None]:
        """Ours under every name that one of MindSpore's has now; `kept` where nothing is to have been drawn after."""
        before = self.key.asnumpy().copy() if kept else None
        for namespace, name, (_, ours) in self._places:
            namespace[name] = ours
        try:
            yield
        finally:
            for namespace, name, (theirs, _) in self._places:
                namespace[name] = theirs
            if before is not None:
                put(self.key, before)


def _ours(key: Parameter) -> dict[str, Drawing]:
    return {
        "dropout": DropoutOf(key),
        "dropout1d": ChannelDropoutOf(key, 1),
        "dropout2d": ChannelDropoutOf(key, 2),
        "dropout3d": ChannelDropoutOf(key, 3),
        "bernoulli": BernoulliOf(key),
        "uniform": UniformOf(key),
        "normal": NormalOf(key),
        "standard_normal": StandardNormalOf(key),
        "rand": ArrayOf(key, normal=False),
        "randn": ArrayOf(key, normal=True),
        "rand_like": ArrayLike(key, normal=False),
        "randn_like": ArrayLike(key, normal=True),
    }


def _places(ours: Mapping[str, Drawing]) -> list[tuple[dict[str, Any], str, tuple[Any, Drawing]]]:
    """Wherever a loaded module holds one of the functions, under whatever name."""
    pairs = {id(theirs): (theirs, cell) for name, cell in ours.items() if (theirs := getattr(ops, name, None))}
    found = []
    modules: list[object] = list(sys.modules.values())
    for module in modules:
        namespace = vars(module) if isinstance(module, ModuleType) else {}
        found += [(namespace, name, pairs[id(value)]) for name, value in list(namespace.items()) if id(value) in pairs]
    return found
