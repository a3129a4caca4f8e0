"""The command line as tests call it: within this process, or as a process that can be killed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from luthier.cli import main

__all__ = ["SCRIPT", "Said", "luthier", "process"]

SCRIPT = Path(sys.executable).with_name("luthier")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a command left: its exit code, the data, and the talk."""

    code: int
    out: str
    err: str


def luthier(*arguments: str | Path) -> Said:
    """Run a command here."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "argv", ["luthier", *map(str, arguments)]):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Said(code=code, out=out.getvalue(), err=err.getvalue())


def process(*arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """Start a command as the user's shell would; one thread, so that it shares a machine well."""
    return subprocess.Popen(
        [str(SCRIPT), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
