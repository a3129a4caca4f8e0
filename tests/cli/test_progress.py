"""The line that a training shows."""

from __future__ import annotations

import pytest

from luthier.cli.progress import speed_text


@pytest.mark.parametrize(
    ("speed", "shown"),
    [(0.44, "0.4 images/s"), (9.96, "10.0 images/s"), (10.4, "10 images/s"), (12345.0, "12,345 images/s")],
)
def test_a_slow_speed_has_a_place_behind_the_point(speed: float, shown: str) -> None:
    assert speed_text(speed) == shown
