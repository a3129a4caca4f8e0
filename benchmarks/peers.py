"""The environment in which the peers live, apart from ours; and what every benchmark says of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import venv
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "bench"


def inside(*packages: str) -> None:
    """Make sure that this process runs in the benchmarks' environment, with the peers and with this Luthier."""
    if Path(sys.prefix) == HOME:
        return
    python = HOME / "bin" / "python"
    if not python.exists():
        venv.create(HOME, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[test]", *packages], check=True)
    os.execv(python, [str(python), *sys.orig_argv[1:]])


def with_mindspore() -> str:
    """An interpreter that has MindSpore: this one, or one of an environment that is made for it."""
    if find_spec("mindspore"):
        return sys.executable
    python = HOME.with_name("bench-mindspore") / "bin" / "python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "mindspore==2.10.0", "numpy<2"], check=True)
    return str(python)


def machine(*packages: str) -> str:
    """One line for under a table."""
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    versions = ", ".join(f"{package} {version(package)}" for package in ("luthier", "torch", *packages))
    return f"{cpu}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"
