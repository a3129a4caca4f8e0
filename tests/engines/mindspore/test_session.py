"""MindSpore's session keeps the contract in both modes."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from luthier.testing import SessionContract

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")


class TestGraphMode(SessionContract):
    engine = "mindspore"
    settings = ("device=cpu", "mode=graph")
    optimizers = ("sgd", "momentum", "nesterov", "adam", "adamw", "muon")


class TestEagerMode(SessionContract):
    engine = "mindspore"
    settings = ("device=cpu", "mode=eager")
    optimizers = ("sgd", "momentum", "nesterov", "adam", "adamw", "muon")
