"""Muon's orthogonalised update."""

from __future__ import annotations

from mindspore import Tensor, ops

__all__ = ["orthogonalised"]

A, B, C = 3.4445, -4.7750, 2.0315  # Jordan's coefficients, as the PyTorch engine has them


def orthogonalised(given: Tensor, num_iterations: int) -> Tensor:
    """About the nearest matrix whose singular values are one, by Newton and Schulz's iteration."""
    tall = given.shape[0] > given.shape[1]
    wide = ops.transpose(given, (1, 0)) if tall else given
    x = wide / (ops.sqrt(ops.square(wide).sum()) + 1e-7)
    for _ in range(num_iterations):
        gram = ops.matmul(x, ops.transpose(x, (1, 0)))
        x = x * A + ops.matmul(gram * B + ops.matmul(gram, gram) * C, x)
    return ops.transpose(x, (1, 0)) if tall else x
