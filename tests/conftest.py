"""Whatever else runs on the machine: threads sleep while they wait, and no run says so on its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture(autouse=True)
def numbers_near_zero_stay() -> Iterator[None]:
    """MindSpore 2.10 lets its caller's thread flush them, once `ops.norm(ord=1)` runs eagerly after a graph did."""
    yield
    if "mindspore" in sys.modules:
        import torch

        torch.set_flush_denormal(False)
