"""Whether threads sleep: decided by who else runs, before PyTorch is there, and never against the user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from luthier.engines import busy
from luthier.engines.busy import SETTINGS, sleep_where_busy

pytestmark = pytest.mark.skipif(not busy.LOADS.exists(), reason="only Linux says who runs")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "")  # so that what is set here is taken back
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """As the kernel writes it: this thread is among those that run."""
    loads = tmp_path / "loadavg"
    loads.write_text(f"9.00 5.00 2.00 {request.param + 1}/144 15576\n", "ascii")
    monkeypatch.setattr(busy, "LOADS", loads)


@pytest.mark.parametrize("others", [0, 1], indirect=True)
def test_a_machine_with_a_free_core_is_left_as_it_is(others: None) -> None:
    assert sleep_where_busy() is None
    assert "OMP_WAIT_POLICY" not in os.environ


@pytest.mark.parametrize("others", [2, 14], indirect=True)
def test_on_a_busy_one_threads_sleep_and_the_user_is_told(others: None) -> None:
    assert "2 cores busy" in str(sleep_where_busy())
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


@pytest.mark.parametrize("others", [14], indirect=True)
@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_NUM_THREADS"])
def test_a_users_own_setting_stands(others: None, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert sleep_where_busy() is None


@pytest.mark.parametrize("others", [14], indirect=True)
def test_with_one_core_nothing_waits(others: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert sleep_where_busy() is None


@pytest.mark.parametrize("others", [14], indirect=True)
def test_once_pytorch_is_loaded_it_is_too_late(others: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)
    assert sleep_where_busy() is None
