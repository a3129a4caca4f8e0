"""Each rule, on a machine where nothing is amiss but what it looks for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from luthier.doctor import Ailment, Convolutions, DataSet, Machine, Package, Report, Space, report_text
from luthier.doctor.ailments import RULES, ailments
from luthier.engines import Checkup, Device
from luthier.engines.mindspore import Timings
from luthier.engines.mindspore.fast_path import Timing

CPU = Device(name="cpu")
SLOW = Timings(as_installed=Timing(kernel="ref", ms=21.0), capped=Timing(kernel="gemm", ms=0.2))
FAST = Timings(as_installed=Timing(kernel="gemm", ms=0.2), capped=Timing(kernel="gemm", ms=0.2))
WELL = Report(
    luthier="0.1.0",
    python="3.11.7",
    platform="Linux",
    machine=Machine(
        processor="One",
        cores=8,
        usable_cores=8,
        core_quota=None,
        instructions=("avx2", "avx512f"),
        memory_mb=32000,
        memory_free_mb=2000,
        threads={},
        cards={},
    ),
    spaces=(Space(use="runs", path="runs", free_mb=2000, writable=True),),
    frameworks=(
        Checkup(name="torch", version="2.13.0", state="works", devices=(CPU,), compiler="/usr/bin/g++"),
        Checkup(name="mindspore", version="2.10.0", state="works", devices=(CPU,)),
    ),
    packages=(
        Package(name="torch", version="2.13.0+cpu", needed="==2.13.0", extra=None, fits=True),
        Package(name="mindspore", version="2.10.0", needed="==2.10.0", extra="mindspore", fits=True),
        Package(name="numpy", version="1.26.4", needed="<2", extra="mindspore", fits=True),
    ),
    convolutions=Convolutions(library="libdnnl.so.3", override=None, timings=SLOW),
    data_roots=("/data",),
    data_root_is_named=True,
    data_sets=(DataSet(name="mnist", state="found", place="/data/mnist"),),
)


def with_machine(**changes: Any) -> Report:
    return replace(WELL, machine=replace(WELL.machine, **changes))


def with_framework(name: str, **changes: Any) -> Report:
    changed = [replace(checkup, **changes) if checkup.name == name else checkup for checkup in WELL.frameworks]
    return replace(WELL, frameworks=tuple(changed))


def with_package(name: str, version: str | None) -> Report:
    changed = [replace(p, version=version, fits=False) if p.name == name else p for p in WELL.packages]
    return replace(WELL, packages=tuple(changed))


def with_convolutions(**changes: Any) -> Report:
    return replace(WELL, convolutions=replace(WELL.convolutions, **changes))


def with_space(**changes: Any) -> Report:
    return replace(WELL, spaces=(replace(WELL.spaces[0], **changes),))


def with_data(state: Any, **changes: Any) -> Report:
    return replace(WELL, data_sets=(DataSet(name="mnist", state=state, place=None),), **changes)


def only(report: Report) -> Ailment:
    (found,) = ailments(report)
    return found


def test_a_machine_where_nothing_is_amiss() -> None:
    assert ailments(WELL) == ()
    assert not WELL.broken
    assert report_text(WELL).endswith("\n\nNothing is amiss.")


def test_every_rule_says_what_it_looks_for() -> None:
    assert all(rule.__doc__ for rule in RULES)


@pytest.mark.parametrize(
    ("report", "kind", "what", "remedy"),
    [
        (
            with_framework("torch", state="broken", failure="it died of SIGILL"),
            "broken",
            "torch 2.13.0 does not work: it died of SIGILL",
            "pip install 'torch==2.13.0' --force-reinstall",
        ),
        (
            with_framework("mindspore", state="broken", failure="no answer within 15 s"),
            "broken",
            "no answer within 15 s",
            "luthier doctor --timeout 120",
        ),
        (with_package("mindspore", None), "missing", "mindspore is not", "pip install 'luthier[mindspore]'"),
        (with_package("torch", "2.12.0"), "untested", "torch 2.12.0 is installed", "pip install 'torch==2.13.0'"),
        (with_package("numpy", "2.4.6"), "untested", "luthier[mindspore] is tested", "pip install 'numpy<2'"),
        (with_machine(cards={"NVIDIA": 1}), "missing", "torch does not see", "PyTorch's build for CUDA"),
        (with_machine(cards={"Ascend": 8}), "missing", "mindspore does not see", "set_env.sh"),
        (with_framework("torch", compiler=None), "missing", "No C++ compiler", "Install g++"),
        (with_convolutions(timings=None), "slow", "could not be timed", "ONEDNN_MAX_CPU_ISA=AVX2"),
        (with_convolutions(override="DNNL_MAX_CPU_ISA=AVX2"), "slow", "keeps PyTorch", "unset DNNL_MAX_CPU_ISA"),
        (with_convolutions(override="ONEDNN_MAX_CPU_ISA=ALL"), "slow", "105 times slower", "unset ONEDNN_MAX_CPU_ISA"),
        (with_machine(threads={"OMP_NUM_THREADS": "9"}), "slow", "=9 for 8 cores", "export OMP_NUM_THREADS=8"),
        (with_machine(core_quota=2.5), "slow", "grants the time of 2.5 cores", "export OMP_NUM_THREADS=2"),
        (with_machine(core_quota=0.5), "slow", "grants the time of 0.5 cores", "export OMP_NUM_THREADS=1"),
        (with_machine(cores=4, usable_cores=4), "slow", "spin against each other on 4", "OMP_WAIT_POLICY=PASSIVE"),
        (with_machine(memory_free_mb=1999), "scarce", "1,999 MB of memory", "End other programs"),
        (with_space(free_mb=1999), "scarce", "1,999 MB are free for runs", "checkpoint.keep=1"),
        (with_space(writable=False), "missing", "runs for runs cannot be written to", "--out"),
        (with_data("missing"), "missing", "mnist is not in /data", "luthier data get mnist"),
        (with_data("damaged"), "broken", "mnist is damaged", "luthier data get mnist"),
    ],
)
def test_what_is_amiss_is_told_with_one_line_of_remedy(report: Report, kind: str, what: str, remedy: str) -> None:
    found = only(report)
    assert found.kind == kind
    assert what in found.what
    assert remedy in found.remedy
    assert "\n" not in found.what + found.remedy
    told = replace(report, ailments=(found,))
    assert told.broken == (kind == "broken")
    assert report_text(told).endswith(f"{found.what}\n{'':16}{found.remedy}")


@pytest.mark.parametrize(
    "report",
    [
        with_machine(threads={"OMP_NUM_THREADS": "8"}),
        with_machine(threads={"OMP_NUM_THREADS": "2"}, core_quota=2.0),
        with_machine(cores=4, usable_cores=4, threads={"OMP_WAIT_POLICY": "passive"}),
        with_machine(cores=4, usable_cores=4, threads={"OMP_NUM_THREADS": "1"}),
        with_machine(cores=1, usable_cores=1),
        with_machine(memory_free_mb=None, memory_mb=None),
        with_convolutions(timings=FAST),
        with_convolutions(timings=FAST, override="ONEDNN_MAX_CPU_ISA=ALL"),
        with_convolutions(library=None, timings=None, override="ONEDNN_MAX_CPU_ISA=AVX2"),
    ],
)
def test_what_is_well_is_not_told(report: Report) -> None:
    assert ailments(report) == ()
    assert report_text(report)


def test_numpy_2_beside_a_mindspore_that_fails_is_told_once() -> None:
    beside = with_package("numpy", "2.4.6")
    failing = with_framework("mindspore", state="broken", failure="SystemError: a result with an exception set")
    found = only(replace(beside, frameworks=failing.frameworks))
    assert found.what.startswith("mindspore 2.10.0 does not work with numpy 2.4.6: SystemError")
    assert found.remedy == "pip install 'numpy<2'"


def test_a_root_that_nobody_named_is_told_before_its_sets() -> None:
    first, second = ailments(with_data("missing", data_root_is_named=False))
    assert "No data root is set" in first.what
    assert "LUTHIER_DATA" in first.remedy
    assert "mnist" in second.what


def test_what_is_broken_comes_first() -> None:
    report = replace(with_data("damaged"), machine=with_machine(memory_free_mb=1).machine)
    assert [ailment.kind for ailment in ailments(report)] == ["broken", "scarce"]


def test_without_avx_512_a_user_s_cap_costs_pytorch_nothing() -> None:
    report = with_convolutions(override="ONEDNN_MAX_CPU_ISA=AVX2", timings=FAST)
    assert ailments(replace(report, machine=replace(report.machine, instructions=("avx2",)))) == ()
