"""Porting needs MindSpore; without it these tests are named as skipped."""

from __future__ import annotations

from tests.zoo.mindspore.conftest import mode, pytest_pycollect_makemodule

__all__ = ["mode", "pytest_pycollect_makemodule"]
