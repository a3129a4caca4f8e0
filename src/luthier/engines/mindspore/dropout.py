"""Dropout whose state is one number that can be saved: MindSpore's own lies within its kernels."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore import dtype as mstype

__all__ = ["BITS", "GOLDEN", "Dropout", "first_key", "hashed", "replace_dropouts", "size_of"]

GOLDEN, ODD = -1640531527, 747796405  # odd numbers with even bits: a key never meets its neighbours' positions
FIRST, SECOND = 0x7FEB352D, 0x846CA68B - 2**32  # Wellons' mixing function `lowbias32`, in signed numbers
BITS = 24


def size_of(shape: tuple[int, ...]) -> int:
    """Of an array, as a graph can count it."""
    count = 1
    for length in shape:
        count = count * length
    return count


def hashed(count: int, key: Tensor) -> Tensor:
    """As many whole numbers of `BITS` bits, each a hash of its position and of the key."""
    words = ops.arange(count).astype(mstype.int32) * ODD + key
    words = ops.bitwise_xor(words, ops.bitwise_and(ops.bitwise_right_shift(words, 16), 0xFFFF)) * FIRST
    words = ops.bitwise_xor(words, ops.bitwise_and(ops.bitwise_right_shift(words, 15), 0x1FFFF)) * SECOND
    words = ops.bitwise_xor(words, ops.bitwise_and(ops.bitwise_right_shift(words, 16), 0xFFFF))
    return ops.bitwise_and(words, 2**BITS - 1)


class Dropout(nn.Cell):
    """The mask is a hash of each position and of a key, which every training pass moves on."""

    def __init__(self, p: float, key: int, *, channels: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self.p = p
        self.channels = channels  # whole channels, as Dropout2d has it
        self.key = Parameter(Tensor(key, mstype.int32), name="key", requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        """What is kept is scaled by 1/(1 − p), in training alone."""
        if not self.training or self.p == 0.0:
            return x
        shape = x.shape[:2] + (1,) * (x.ndim - 2) if self.channels else x.shape
        kept = hashed(size_of(shape), self.key) >= int(self.p * 2**BITS)
        mask = ops.stop_gradient(kept.astype(x.dtype).reshape(shape) * (1.0 / (1.0 - self.p)))
        moved = ops.assign(self.key, self.key + GOLDEN)
        return x * ops.depend(mask, moved)


WHOLE = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


def replace_dropouts(cell: nn.Cell, seed: int) -> dict[str, Dropout]:
    """Put ours in the place of MindSpore's; by the layer's name."""
    found: dict[str, Dropout] = {}
    for path, parent in list(cell.cells_and_names()):
        for name, child in list(parent.name_cells().items()):
            if not isinstance(child, (nn.Dropout, *WHOLE)):
                continue
            full = f"{path}.{name}" if path else name
            found[full] = Dropout(_share(child), first_key(seed, full), channels=isinstance(child, WHOLE))
            found[full].key.name = f"{full}.key"
            parent._cells[name] = found[full]
            if isinstance(parent, nn.SequentialCell):
                parent.cell_list = list(parent._cells.values())
    return found


def first_key(seed: int, name: str) -> int:
    """Another for each name."""
    return int(np.random.default_rng([seed, crc32(name.encode())]).integers(-(2**31), 2**31))


def _share(layer: nn.Cell) -> float:
    """What it drops; its layers keep either that or the rest."""
    for name in ("p", "prob"):
        if getattr(layer, name, None) is not None:
            return float(getattr(layer, name))
    return 1.0 - float(layer.keep_prob)
