"""A network in both frameworks with the same weights; skipped where MindSpore is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]


class WithoutMindSpore(pytest.Module):
    """A file of tests that is named as skipped, and never imported."""

    def collect(self) -> NoReturn:
        pytest.skip("MindSpore is not installed: pip install 'luthier[mindspore]'", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if find_spec("mindspore") is None:
        return WithoutMindSpore.from_parent(parent, path=module_path)
    return None


@pytest.fixture(params=["graph", "eager"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """GRAPH_MODE or PYNATIVE, put back afterwards."""
    import mindspore

    before = mindspore.get_context("mode")
    mindspore.set_context(mode=mindspore.GRAPH_MODE if request.param == "graph" else mindspore.PYNATIVE_MODE)
    yield request.param
    mindspore.set_context(mode=before)


@pytest.fixture
def images() -> Array:
    """A batch whose flat parts give exact ties, as an image's background does."""
    x_BCHW = np.random.default_rng(0).standard_normal((6, 3, 32, 32)).astype(np.float32)
    x_BCHW[:, :, :8, :] = 0.5
    return x_BCHW
