"""Where a run ran: enough to explain a number that differs, and nothing secret."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct

__all__ = ["Environment", "here"]

PACKAGES = ("luthier", "mindspore", "numpy", "onnxruntime", "torch")
THREADS = (
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
SECRET_OPTION = re.compile(r"(?i)(token|secret|passw|credential|api-?_?key|access-?_?key)")
SECRET_IN_URL = re.compile(r"(://)[^/@\s]+@")


class Environment(Struct, frozen=True, kw_only=True):
    """The machine, the versions and the command line."""

    id: str = ""  # a run's own, which its checkpoints name
    recipe_sha256: str = ""  # of recipe.toml; a run of old has none
    created: str  # ISO 8601, with the zone
    python: str
    platform: str
    cpu: str
    cpus: int
    usable_cpus: int  # by this process, which a container or an affinity may have limited
    memory_mb: int | None
    packages: dict[str, str | None]  # null where it is not installed
    git_commit: str | None  # of the folder that the run was started in
    command: list[str]  # values that look secret are masked
    threads: dict[str, str]  # the variables that set their number, where they are set
    ranks: int = 1  # processes that trained together
    backend: str | None = None  # over which they talked


def here(now: datetime, *, ranks: int = 1, backend: str | None = None) -> Environment:
    """This process's environment; versions come from the packages' metadata, so that nothing is imported."""
    cpus = os.cpu_count() or 1
    return Environment(
        created=now.astimezone().isoformat(timespec="seconds"),
        python=platform.python_version(),
        platform=platform.platform(),
        cpu=_cpu(),
        cpus=cpus,
        usable_cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cpus,
        memory_mb=_memory_mb(),
        packages={name: _version(name) for name in PACKAGES},
        git_commit=_git_commit(),
        command=without_secrets(sys.argv),
        threads={name: os.environ[name] for name in THREADS if name in os.environ},
        ranks=ranks,
        backend=backend,
    )


def without_secrets(arguments: Sequence[str]) -> list[str]:
    """Mask the value of an option that is named like a secret, and a password within an address."""
    shown: list[str] = []
    mask_next = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        secret = bool(SECRET_OPTION.search(name)) and (bool(equals) or argument.startswith("-"))
        if mask_next and not argument.startswith("-"):
            shown.append("***")
        elif secret and equals:
            shown.append(f"{name}=***")
        else:
            shown.append(SECRET_IN_URL.sub(r"\1***@", argument))
        mask_next = secret and not equals
    return shown


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        text = ""
    found = re.search(r"(?m)^model name\s*:\s*(.+)$", text)
    return found[1] if found else platform.processor() or platform.machine()


def _memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
    except (AttributeError, OSError, ValueError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git_commit() -> str | None:
    command = ["git", "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None
