"""What tests of a study in another process wait for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from luthier.errors import RecipeError
from luthier.tuning.folder import open_folder

__all__ = ["ended", "has", "journal", "until"]


def journal(path: Path) -> list[dict[str, object]]:
    """Line by line."""
    return [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait, and fail where it does not happen."""
    for _ in range(int(seconds / 0.05)):
        if true():
            return
        time.sleep(0.05)
    pytest.fail(f"it did not happen within {seconds:g} s")


def has(path: Path, event: str, count: int = 1) -> Callable[[], bool]:
    """Whether a study's journal tells of it."""

    def look() -> bool:
        there = (path / "journal.jsonl").exists()
        return there and (path / "journal.jsonl").read_text().count(f'"event":"{event}"') >= count

    return look


def ended(path: Path) -> Callable[[], bool]:
    """Whether the study and the last of its workers have let go of the folder."""

    def look() -> bool:
        try:
            open_folder(path, writing=True).close()
        except RecipeError:
            return False
        return True

    return look
