"""The package's door."""

from __future__ import annotations

import subprocess
import sys

from luthier import strategy


def test_the_door_is_sorted_and_names_what_is_there() -> None:
    assert strategy.__all__ == sorted(strategy.__all__)
    assert all(hasattr(strategy, name) for name in strategy.__all__)


def test_importing_it_loads_no_framework() -> None:
    code = (
        "import sys, luthier.strategy; sys.exit(bool({'torch', 'mindspore', 'matplotlib', 'onnx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
