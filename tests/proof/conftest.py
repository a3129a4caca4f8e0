"""Proofs need MindSpore; its settings come before its first convolution."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

Write = Callable[[str, str], Path]


class WithoutMindSpore(pytest.Module):
    """A file of tests that is named as skipped, and never imported."""

    def collect(self) -> NoReturn:
        pytest.skip("MindSpore is not installed: pip install 'luthier[mindspore]'", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    if find_spec("mindspore") is None:
        return WithoutMindSpore.from_parent(parent, path=module_path)
    return None


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written
