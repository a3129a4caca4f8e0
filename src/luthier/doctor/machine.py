"""The processor, the memory, the disks and the threads, as far as a process may use them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from luthier.store import Environment

__all__ = ["Machine", "Space", "machine", "spaces"]

INSTRUCTIONS = (
    *("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8"),
    *("asimd", "asimddp", "i8mm", "bf16", "sve", "sve2"),
)
WAITING = ("GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OMP_WAIT_POLICY")
CARDS = {"NVIDIA": "dev/nvidia[0-9]*", "Ascend": "dev/davinci[0-9]*"}
UNLIMITED = 2**60  # what a control group says of memory that it leaves alone


class Machine(Struct, frozen=True, kw_only=True):
    """What there is; none where the system does not say."""

    processor: str
    cores: int
    usable_cores: int  # by this process
    core_quota: float | None  # the processor time that a container grants, in cores
    instructions: tuple[str, ...]
    memory_mb: int | None
    memory_free_mb: int | None
    threads: dict[str, str]  # the variables that set their number and how they wait, where they are set
    cards: dict[str, int]  # accelerators that the system has, whether or not a framework sees them


class Space(Struct, frozen=True, kw_only=True):
    """A place that is written to."""

    use: str
    path: str
    free_mb: int
    writable: bool


def machine(environment: Environment, *, root: Path = Path("/")) -> Machine:
    """The system's own files stand below `root`."""
    limit, free = _memory(root)
    total = min((size for size in (environment.memory_mb, limit) if size is not None), default=None)
    waiting = {name: os.environ[name] for name in WAITING if name in os.environ}
    return Machine(
        processor=environment.cpu,
        cores=environment.cpus,
        usable_cores=environment.usable_cpus,
        core_quota=_quota(root),
        instructions=_instructions(root),
        memory_mb=total,
        memory_free_mb=free,
        threads=dict(sorted((environment.threads | waiting).items())),
        cards={kind: count for kind, pattern in CARDS.items() if (count := len(list(root.glob(pattern))))},
    )


def spaces(places: Iterable[tuple[str, Path]]) -> tuple[Space, ...]:
    """A folder that is not there yet has the room of the nearest one above it."""
    found = []
    for use, path in places:
        there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.is_dir())
        free = shutil.disk_usage(there).free // 10**6
        found.append(Space(use=use, path=str(path), free_mb=free, writable=os.access(there, os.W_OK | os.X_OK)))
    return tuple(found)


def _instructions(root: Path) -> tuple[str, ...]:
    found = re.search(r"(?m)^(?:flags|Features)\s*:\s*(.+)$", _read(root / "proc/cpuinfo"))
    there = set(found[1].split()) if found else set()
    return tuple(name for name in INSTRUCTIONS if name in there)


def _memory(root: Path) -> tuple[int | None, int | None]:
    """The control group's limit and what is free, in megabytes: the system's, or less where the group allows less."""
    found = re.search(r"(?m)^MemAvailable:\s*(\d+) kB$", _read(root / "proc/meminfo"))
    free = int(found[1]) * 1024 // 10**6 if found else None
    for limits, uses in (
        ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        limit, used = _read(root / limits).strip(), _read(root / uses).strip()
        if limit.isdigit() and used.isdigit() and int(limit) < UNLIMITED:
            left = max(0, int(limit) - int(used)) // 10**6
            return int(limit) // 10**6, left if free is None else min(free, left)
    return None, free


def _quota(root: Path) -> float | None:
    """Of the control group, version 2 or 1."""
    numbers = _read(root / "sys/fs/cgroup/cpu.max").split()
    if not numbers:
        numbers = [_read(root / f"sys/fs/cgroup/cpu/cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    if len(numbers) == 2 and all(number.isdigit() for number in numbers):
        return int(numbers[0]) / int(numbers[1])
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
