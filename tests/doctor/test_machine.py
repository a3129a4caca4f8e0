"""What the system's files say, read from made-up ones."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from luthier.doctor import Machine
from luthier.doctor.machine import machine, spaces
from luthier.store import here


def found(root: Path, **files: str) -> Machine:
    """With the files, by their paths below the root with `__` for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return machine(here(datetime.now()), root=root)


def test_a_system_that_says_nothing_is_not_an_error(tmp_path: Path) -> None:
    told = found(tmp_path)
    assert (told.instructions, told.memory_free_mb, told.core_quota, told.cards) == ((), None, None, {})
    assert told.cores >= told.usable_cores >= 1


def test_instructions_are_those_that_kernels_are_chosen_for(tmp_path: Path) -> None:
    assert found(tmp_path, proc__cpuinfo="flags\t\t: fpu sse4_2 avx2 avx512f\n").instructions == (
        "sse4_2",
        "avx2",
        "avx512f",
    )
    assert found(tmp_path, proc__cpuinfo="Features\t: fp asimd sve\n").instructions == ("asimd", "sve")


def test_a_container_s_limits_count(tmp_path: Path) -> None:
    meminfo = "MemTotal: 32000000 kB\nMemAvailable:   16000000 kB\n"
    assert found(tmp_path, proc__meminfo=meminfo).memory_free_mb == 16384
    group = {"sys__fs__cgroup__memoryDOTmax": "4000000000\n", "sys__fs__cgroup__memoryDOTcurrent": "1000000000\n"}
    told = found(tmp_path, sys__fs__cgroup__cpuDOTmax="150000 100000\n", **group)
    assert (told.memory_free_mb, told.core_quota) == (3000, 1.5)
    assert told.memory_mb is not None
    assert told.memory_mb <= 4000


def test_a_container_of_the_first_version_without_limits(tmp_path: Path) -> None:
    cpu = "sys__fs__cgroup__cpu__cpuDOTcfs_"
    memory = "sys__fs__cgroup__memory__memoryDOT"
    none = {f"{memory}limit_in_bytes": "9223372036854771712", f"{memory}usage_in_bytes": "1000"}
    told = found(tmp_path, **{f"{cpu}quota_us": "-1", f"{cpu}period_us": "100000"}, **none)
    assert (told.core_quota, told.memory_free_mb) == (None, None)
    assert found(tmp_path, **{f"{cpu}quota_us": "200000"}).core_quota == 2.0


def test_cards_are_counted_whether_or_not_a_framework_sees_them(tmp_path: Path) -> None:
    assert found(tmp_path, dev__nvidia0="", dev__nvidiactl="", dev__davinci0="", dev__davinci1="").cards == {
        "NVIDIA": 1,
        "Ascend": 2,
    }


def test_how_threads_wait_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    monkeypatch.setenv("MKL_NUM_THREADS", "2")
    threads = found(tmp_path).threads
    assert (threads["OMP_WAIT_POLICY"], threads["MKL_NUM_THREADS"]) == ("ACTIVE", "2")


def test_a_folder_that_is_not_there_yet_has_the_room_above_it(tmp_path: Path) -> None:
    there, not_yet = spaces([("runs", tmp_path), ("runs", tmp_path / "a" / "b")])
    assert there.writable
    assert not_yet.writable
    assert abs(there.free_mb - not_yet.free_mb) < 1000
    assert not (tmp_path / "a").exists()
