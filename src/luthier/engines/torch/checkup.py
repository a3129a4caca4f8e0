"""Whether PyTorch computes here: a program of its own, since a framework that fails may take its process with it.

`python checkup.py` prints JSON. It imports nothing of Luthier's.
"""

from __future__ import annotations

import json
import os
import shutil

import torch
from torch import nn

COMPILERS = (os.environ.get("CXX", ""), "g++", "c++", "clang++")


def require_convolution(device: str) -> None:
    """Of ones by ones there and back: the sums are exact in every instruction set."""
    layer = nn.Conv2d(3, 4, 3, bias=False).to(device)
    nn.init.ones_(layer.weight)
    x_BCHW = torch.ones(2, 3, 5, 5, device=device, requires_grad=True)
    given = layer(x_BCHW)
    given.sum().backward()
    assert x_BCHW.grad is not None
    found = tuple(float(value) for value in (given.detach().min(), given.detach().max(), x_BCHW.grad.max()))
    if found != (27.0, 27.0, 36.0):
        raise ArithmeticError(f"a convolution of ones gave {found} on {device}, expected 27, 27 and 36")


def devices() -> list[dict[str, object]]:
    """The processor first, each under the name that a recipe gives it."""
    found: list[dict[str, object]] = [{"name": "cpu"}]
    for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        card = torch.cuda.get_device_properties(number)
        found.append({"name": f"cuda:{number}", "title": card.name, "memory_mb": card.total_memory // 10**6})
    return found


def main() -> None:
    """Every device computes once."""
    there = devices()
    for device in there:
        require_convolution(str(device["name"]))
    told = {
        "devices": there,
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "compiler": next((found for name in COMPILERS if name and (found := shutil.which(name))), None),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
