from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from luthier.training import StepEnded
from luthier.training.listeners import Listeners
from luthier.training.own_listeners import own_listeners

OWN = """
class Counting:
    def __init__(self):
        from neighbour import SCALE
        self.scale = SCALE

    def step_ended(self, event):
        from later import OFFSET
        event.training.heard.append(self.scale * event.step + OFFSET)

def counting(event):
    from later import OFFSET
    event.training.heard.append(event.step + OFFSET)
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "neighbour.py").write_text("SCALE = 100")
    (tmp_path / "later.py").write_text("OFFSET = 1")
    yield tmp_path / "own.py"
    for name in ("neighbour", "later"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("name", "expected"), [("Counting", 701), ("counting", 8)])
def test_one_may_import_a_module_beside_its_file_when_it_is_made_and_when_it_hears(
    name: str, expected: int, file: Path
) -> None:
    before, heard = list(sys.path), list[int]()
    listeners = Listeners(own_listeners([f"{file}:{name}"]))
    training: Any = SimpleNamespace(heard=heard)
    event = StepEnded(training=training, step=7, epoch=1, loss=0.0, learning_rate=0.1, images=32)
    listeners.tell(event)
    assert heard == [expected]
    assert sys.path == before
