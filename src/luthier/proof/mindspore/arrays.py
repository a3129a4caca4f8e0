"""Between MindSpore's tensors and arrays, through any nesting."""

from __future__ import annotations

from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor
from numpy.typing import NDArray

from luthier.proof.network import leaves_of, mapped

__all__ = ["array_of", "arrays_in", "tensors_of"]


def array_of(tensor: Tensor) -> NDArray[Any]:
    """A copy; NumPy has no bfloat16, whose numbers float32 holds."""
    found = tensor.astype(mindspore.float32) if tensor.dtype == mindspore.bfloat16 else tensor
    return np.array(found.asnumpy())


def arrays_in(value: Any) -> tuple[NDArray[Any], ...]:
    """The tensors in whatever a Cell gave, flat."""
    return tuple(array_of(leaf) for leaf in leaves_of(value) if isinstance(leaf, Tensor))


def tensors_of(value: Any, dtype: Any) -> Any:
    """The same nesting with tensors in the place of arrays; floating ones take the dtype."""

    def made(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        tensor = Tensor(np.asarray(leaf, order="C"))
        return tensor.astype(dtype) if np.issubdtype(leaf.dtype, np.floating) else tensor

    return mapped(value, made)
