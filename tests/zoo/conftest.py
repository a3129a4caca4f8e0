"""Files as a user would write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str], Path]


@pytest.fixture
def own(tmp_path: Path) -> Write:
    """Write a user's net.py and give its path."""

    def write(text: str) -> Path:
        path = tmp_path / "net.py"
        path.write_text(text, "utf-8")
        return path

    return write
