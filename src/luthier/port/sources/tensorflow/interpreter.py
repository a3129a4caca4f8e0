"""The interpreter that has TensorFlow: seldom this one, as its packages and MindSpore's want different versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from luthier.errors import MissingPackage, PortError

__all__ = ["VARIABLE", "convert", "interpreter"]

VARIABLE = "LUTHIER_TENSORFLOW_PYTHON"
NEEDED = ("tensorflow", "tf2onnx")
INSTALL = (
    f"python3 -m venv tf-env && tf-env/bin/pip install tensorflow tf2onnx && export {VARIABLE}=$PWD/tf-env/bin/python"
)
CONVERTER = Path(__file__).with_name("converter.py")


def interpreter() -> str:
    """The one that the environment names, or this one if it has what is needed."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise PortError(f"No interpreter '{named}'", at=VARIABLE, hint=INSTALL)
        return named
    if any(find_spec(name) is None for name in NEEDED):
        raise MissingPackage(
            "TensorFlow's files are converted by an interpreter that has tensorflow and tf2onnx, and none is known",
            hint=INSTALL,
        )
    return sys.executable


def convert(request: Mapping[str, Any], at: Path) -> dict[str, str]:
    """Have the file converted; the versions that did it."""
    python = interpreter()
    try:
        done = subprocess.run(
            [python, "-I", str(CONVERTER)], input=json.dumps(request), capture_output=True, encoding="utf-8"
        )
    except OSError as fault:
        raise PortError(f"'{python}' cannot be run: {fault.strerror}", at=VARIABLE, hint=INSTALL) from None
    answer = _answer(done.stdout)
    if "missing" in answer:
        raise MissingPackage(f"'{python}' lacks a package: {answer['missing']}", at=VARIABLE, hint=INSTALL)
    if "fault" in answer:
        raise PortError(str(answer["fault"]), at=str(at), hint=answer.get("hint"))
    if "versions" not in answer or not Path(request["output"]).is_file():
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
        raise PortError(f"The conversion ended with {done.returncode}: {last.strip()}", at=str(at), hint=INSTALL)
    return dict(answer["versions"])


def _answer(stdout: str) -> dict[str, Any]:
    lines = stdout.splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
