"""What happens to an array between its source and its target; each transform knows its way back."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["Expand", "Identity", "OneMinus", "ReorderGates", "Transform", "Transpose"]

Array = NDArray[Any]


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """`linear` is what a gradient or a moment takes: the same without the constants."""


class Identity(Named, frozen=True, kw_only=True, tag="identity"):
    """The same array."""

    def there(self, array: Array, *, linear: bool = False) -> Array:
        """From source to target."""
        return array

    def back(self, array: Array, *, linear: bool = False) -> Array:
        """From target to source."""
        return array


class Expand(Named, frozen=True, kw_only=True, tag="expand"):
    """An axis of length one more in the target, as MindSpore has it in the weight of a Conv1d."""

    axis: int

    def there(self, array: Array, *, linear: bool = False) -> Array:
        """From source to target."""
        return np.expand_dims(array, self.axis)

    def back(self, array: Array, *, linear: bool = False) -> Array:
        """From target to source."""
        return np.squeeze(array, self.axis)


class Transpose(Named, frozen=True, kw_only=True, tag="transpose"):
    """The target's axis i is the source's axis `axes[i]`."""

    axes: tuple[int, ...]

    def there(self, array: Array, *, linear: bool = False) -> Array:
        """From source to target."""
        return np.ascontiguousarray(array.transpose(self.axes))

    def back(self, array: Array, *, linear: bool = False) -> Array:
        """From target to source."""
        return np.ascontiguousarray(array.transpose(np.argsort(self.axes)))


class OneMinus(Named, frozen=True, kw_only=True, tag="one-minus"):
    """`1 − m`, for a momentum that weighs the old value in one framework and the new one in the other."""

    def there(self, array: Array, *, linear: bool = False) -> Array:
        """From source to target; a gradient changes its sign alone."""
        turned: Array = -array if linear else (1 - array).astype(array.dtype)
        return turned

    def back(self, array: Array, *, linear: bool = False) -> Array:
        """From target to source."""
        return self.there(array, linear=linear)


class ReorderGates(Named, frozen=True, kw_only=True, tag="reorder-gates"):
    """The target's gate i is the source's gate `order[i]`; the gates are equal parts of `axis`."""

    order: tuple[int, ...]
    axis: int = 0

    def there(self, array: Array, *, linear: bool = False) -> Array:
        """From source to target."""
        return self._ordered(array, self.order)

    def back(self, array: Array, *, linear: bool = False) -> Array:
        """From target to source."""
        return self._ordered(array, tuple(int(gate) for gate in np.argsort(self.order)))

    def _ordered(self, array: Array, order: tuple[int, ...]) -> Array:
        gates = np.split(array, len(order), axis=self.axis)
        return np.concatenate([gates[gate] for gate in order], axis=self.axis)


Transform = Identity | Expand | Transpose | OneMinus | ReorderGates
