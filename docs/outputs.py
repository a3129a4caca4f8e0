"""What commands print, and files that are shown as they are."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from luthier.recipe import shipped_text

__all__ = ["EXAMPLES", "console", "environment", "example", "golden", "recipe_source"]

EXAMPLES = Path(__file__).resolve().parent / "examples"
START = "import sys; from luthier.cli import main; sys.argv[0] = 'luthier'; main()"


def environment() -> dict[str, str]:
    """The same width, colours, threads and data wherever the manual is made."""
    kept = {name: value for name, value in os.environ.items() if name not in ("LUTHIER_DATA", "FORCE_COLOR")}
    return kept | {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "OMP_NUM_THREADS": "1"}


@cache
def console(command: str) -> str:
    """A command and what it prints, errors included; run in an empty folder, so only for what needs none."""
    program, *arguments = shlex.split(command)
    if program != "luthier":
        raise ValueError(f"only Luthier's own commands are run, not '{command}'")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", START, *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if "Traceback" in done.stdout:
        raise RuntimeError(f"'{command}' broke:\n{done.stdout}")
    return f"```console\n$ {command}\n{done.stdout.rstrip()}\n```"


def example(name: str) -> str:
    """A file of docs/examples, which the tests run."""
    text = (EXAMPLES / name).read_text("utf-8").rstrip()
    return f'```{"python" if name.endswith(".py") else "toml"} title="{name}"\n{text}\n```'


def golden(name: str) -> str:
    """A port that the tests compare with what is written today."""
    text = (EXAMPLES.parents[1] / "tests" / "golden" / f"{name}.py").read_text("utf-8").rstrip()
    return f"```python\n{text}\n```"


def recipe_source(name: str) -> str:
    """A shipped recipe as its author wrote it."""
    return f"```toml\n{shipped_text(name).rstrip()}\n```"
