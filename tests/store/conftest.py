from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from luthier.recipe import Recipe
from luthier.store import Run, create_run

NOON = datetime(2026, 11, 18, 12, 0)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create_run(tmp_path / "runs", Recipe(name="lenet5-digits"), now=NOON)
