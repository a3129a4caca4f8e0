"""Every examination, and what follows from them."""

from __future__ import annotations

import platform
import tempfile
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

import luthier
from luthier.data import roots
from luthier.doctor.ailments import ailments
from luthier.doctor.data_sets import data_sets
from luthier.doctor.machine import machine, spaces
from luthier.doctor.packages import packages
from luthier.doctor.report import Convolutions, Report
from luthier.engines import check, checkup_programs
from luthier.engines.mindspore import library, measured, memory, override
from luthier.store import here

__all__ = ["doctor"]

PROGRAMS = {**checkup_programs(), "onnxruntime": Path(__file__).with_name("onnxruntime_checkup.py")}
TIMEOUT_S = 15.0


def doctor(*, data_root: str | Path | None = None, out: str | Path = "runs", timeout_s: float = TIMEOUT_S) -> Report:
    """Look the machine over; each framework is asked in a process of its own, and given up after `timeout_s`."""
    looked_in = roots(data_root)
    places = [("runs", Path(out)), ("data sets", looked_in[0]), ("temporary files", Path(tempfile.gettempdir()))]
    frameworks = check(PROGRAMS, timeout_s)
    report = Report(
        luthier=luthier.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        machine=machine(here(datetime.now())),
        spaces=spaces(places),
        frameworks=frameworks,
        packages=packages(),
        convolutions=_convolutions(),  # timed when nothing else of ours runs
        data_roots=tuple(str(root) for root in looked_in),
        data_root_is_named=data_root is not None or len(looked_in) > 1,
        data_sets=data_sets(data_root),
    )
    return replace(report, ailments=ailments(report))


def _convolutions() -> Convolutions:
    """Measured anew, which also renews what trainings remember."""
    place = library()
    timings = measured(place, remembered=memory(), anew=True) if place else None
    return Convolutions(library=str(place) if place else None, override=override(), timings=timings)
