"""Real ranks: processes that torchrun or msrun starts, on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ["REPOSITORY", "msrun", "torchrun"]

REPOSITORY = Path(__file__).parents[2]
LONGEST_S = 240


def torchrun(*arguments: str | Path, ranks: int = 2) -> subprocess.CompletedProcess[str]:
    """`-m module …`, by as many ranks."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return _run([*command, *map(str, arguments)])


def msrun(logs: Path, *arguments: str | Path, ranks: int = 2) -> subprocess.CompletedProcess[str]:
    """The same by MindSpore's launcher, which writes each rank's words into a file below `logs`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = Path(sys.executable).with_name("msrun")
    numbers = [f"--worker_num={ranks}", f"--local_worker_num={ranks}", f"--master_port={port}"]
    return _run([str(launcher), *numbers, "--join=True", f"--log_dir={logs}", "python", *map(str, arguments)])


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """One thread a rank; `python` is the one that runs the tests."""
    source = os.pathsep.join(filter(None, [str(REPOSITORY / "src"), str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": source, "PATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=False, cwd=REPOSITORY
    )
