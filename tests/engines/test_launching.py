"""Which rank a process is, and whose launcher started it."""

from __future__ import annotations

import pytest

from luthier.engines import Alone, launched, open_group
from luthier.engines.splitting import group_ends
from luthier.errors import EngineError, RecipeError
from luthier.recipe import Recipe, load, override

TORCHRUN = {
    "RANK": "3",
    "LOCAL_RANK": "1",
    "WORLD_SIZE": "4",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
    "TORCHELASTIC_RUN_ID": "none",
}
MSRUN = {"MS_ROLE": "MS_WORKER", "MS_WORKER_NUM": "4", "MS_NODE_ID": "3", "DEVICE_ID": "1"}


def test_a_process_alone_is_the_first_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*TORCHRUN, *MSRUN):
        monkeypatch.delenv(name, raising=False)
    assert (launched().rank, launched().ranks) == (0, 1)
    assert isinstance(open_group(override(Recipe(name="x"), ["engine=torch"])), Alone)


def test_both_launchers_say_who_is_who() -> None:
    for environment, engine in ((TORCHRUN, "torch"), (MSRUN, "mindspore")):
        found = launched(environment)
        assert (found.engine, found.rank, found.ranks, found.local_rank) == (engine, 3, 4, 1)
    assert launched(MSRUN | {"MS_ROLE": "MS_SCHED"}).schedules


def test_one_rank_under_torchrun_is_a_process_alone() -> None:
    alone = launched({"WORLD_SIZE": "1", "RANK": "0", "TORCHELASTIC_RUN_ID": "none"})
    assert alone.ranks == 1
    alone.require("mindspore")


def test_the_other_engines_launcher_is_refused() -> None:
    with pytest.raises(EngineError, match=r"mindspore engine was started by torchrun.*\n.*msrun"):
        launched(TORCHRUN).require("mindspore")
    with pytest.raises(EngineError, match=r"torch engine was started by msrun.*\n.*torchrun.*engine=mindspore"):
        launched(MSRUN).require("torch")


def test_a_number_of_ranks_without_a_launcher_is_refused() -> None:
    with pytest.raises(
        EngineError, match="WORLD_SIZE is set for 2 ranks that train together, but not RANK, MASTER_ADDR, MASTER_PORT"
    ):
        launched({"WORLD_SIZE": "2"})
    with pytest.raises(EngineError, match="Expected a whole number, got 'two' - at WORLD_SIZE"):
        launched({"WORLD_SIZE": "two"})


def test_ranks_that_name_one_device_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(EngineError, match=r"4 ranks cannot share one device - at device cuda:0"):
        open_group(override(Recipe(name="x"), ["engine=torch", "device=cuda:0"]))


def test_a_split_counts_as_mindspore_counts() -> None:
    """[85, 160] is 86 parameters and then 75, of the 161 that ResNet-50 has."""
    assert group_ends((85, 160), 161) == (86, 161)
    assert group_ends((85,), 161) == (86, 161)
    assert group_ends((), 8) == (8,)
    with pytest.raises(RecipeError, match=r"Expected positions below 8.*got 160"):
        group_ends((85, 160), 8)


def test_a_split_that_does_not_rise_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"Expected positions that rise, got \[160, 85\]"):
        load("lenet5-digits", ["strategy.allreduce_split=[160, 85]"])
