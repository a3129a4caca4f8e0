"""Whether MindSpore computes here: a program of its own, since a framework that fails may take its process with it.

`python checkup.py` prints JSON. It imports nothing of Luthier's.
"""

from __future__ import annotations

import ctypes
import json

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops

TARGETS = {"gpu": "GPU", "ascend": "Ascend"}


class Scaled(nn.Cell):
    """A convolution of ones by ones, halved: with NumPy 2 the product is what fails."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="valid", weight_init="ones", has_bias=False)

    def construct(self, x_BCHW: Tensor) -> Tensor:
        """The sums are exact in every instruction set."""
        return (self.conv(x_BCHW) * 0.5).sum()


def require_convolution(mode: int) -> None:
    """There and back."""
    mindspore.set_context(mode=mode)
    x_BCHW = Tensor(np.ones((2, 3, 5, 5), np.float32))
    value, gradient = ops.value_and_grad(Scaled(), 0)(x_BCHW)
    found = (float(value.asnumpy()), float(gradient.asnumpy().max()))
    if found != (972.0, 18.0):
        raise ArithmeticError(f"a convolution of ones gave {found}, expected 972 and 18")


def devices() -> list[dict[str, object]]:
    """The processor first, each under the name that a recipe gives it."""
    found: list[dict[str, object]] = [{"name": "cpu"}]
    for kind, target in TARGETS.items():
        try:
            count = mindspore.hal.device_count(target) if mindspore.hal.is_available(target) else 0
        except (RuntimeError, ValueError):  # this build knows no such device
            count = 0
        found += [{"name": f"{kind}:{number}", "title": target} for number in range(count)]
    return found


def threads() -> int:
    """Of OpenMP, by which its convolutions and products run; of its own pool where it has no OpenMP."""
    try:
        return int(ctypes.CDLL("libgomp.so.1").omp_get_max_threads())
    except (AttributeError, OSError):
        return int(mindspore.get_context("runtime_num_threads"))


def main() -> None:
    """Both modes compute once, on the device that MindSpore takes."""
    there = devices()
    for mode in (mindspore.PYNATIVE_MODE, mindspore.GRAPH_MODE):
        require_convolution(mode)
    print(json.dumps({"devices": there, "threads": threads()}))


if __name__ == "__main__":
    main()
