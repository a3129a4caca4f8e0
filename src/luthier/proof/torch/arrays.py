"""Between tensors and arrays, through any nesting."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from luthier.proof.network import leaves_of, mapped

__all__ = ["array_of", "arrays_in", "tensors_of"]


def array_of(tensor: Tensor) -> NDArray[Any]:
    """A copy; NumPy has no bfloat16, whose numbers float32 holds."""
    found = tensor.detach().cpu()
    return np.array((found.float() if found.dtype == torch.bfloat16 else found).numpy())


def arrays_in(value: Any) -> tuple[NDArray[Any], ...]:
    """The tensors in whatever a module gave, flat."""
    return tuple(array_of(leaf) for leaf in leaves_of(value) if isinstance(leaf, Tensor))


def copied(value: Any) -> Any:
    """The same nesting with arrays in the place of tensors."""
    return mapped(value, lambda leaf: array_of(leaf) if isinstance(leaf, Tensor) else leaf)


def tensors_of(value: Any, dtype: torch.dtype) -> Any:
    """The same nesting with tensors in the place of arrays; floating ones take the dtype."""

    def made(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return leaf
        tensor = torch.from_numpy(np.array(leaf))
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    return mapped(value, made)
