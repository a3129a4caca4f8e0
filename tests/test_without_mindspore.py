"""Where MindSpore is not installed, everything on PyTorch works, and what needs MindSpore says how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.hiding import without

VERBS = """
import sys
from importlib.util import find_spec
from pathlib import Path
import numpy as np
from PIL import Image
from tests.cli.calling import luthier

assert find_spec("mindspore") is None

def works(*words):
    said = luthier(*words)
    assert said.code == 0, (words, said.err)
    assert said.out + said.err != ""

works("train", "lenet5-digits", "--set", "strategy.steps=8", "--set", "score.runs=3")
[run] = Path("runs").iterdir()
Image.fromarray(np.zeros((32, 32), np.uint8)).save("digit.png")
works("train", "--resume", run)
works("evaluate", run)
works("predict", run, "digit.png")
works("measure", run, "lenet5-digits")
works("export", run, "-o", "digits.onnx")
works("runs", "list")
works("runs", "compare", run, run)
works("recipe", "list")
works("recipe", "show", "lenet5-digits")
works("schedule", "lenet5-digits", "-o", "schedule.png")
works("data", "list")
works("data", "show", "digits")

for words in (("--set", "engine=mindspore"), ("--set", "device=ascend:0")):
    said = luthier("train", "lenet5-digits", *words)
    told = "error: The mindspore engine is not installed\\n  pip install 'luthier[mindspore]'\\n"
    assert (said.code, said.out, said.err) == (2, "", told), said
"""
IMPORTS = """
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
import luthier

assert find_spec("mindspore") is None
for path in Path(luthier.__file__).parent.iterdir():
    if (path / "__init__.py").is_file() and path.name != "testing":
        import_module(f"luthier.{path.name}")
for name in luthier.__all__:
    assert callable(getattr(luthier, name)), name
"""


def runs(program: str, folder: Path) -> None:
    """On a machine without MindSpore, and without data sets."""
    here = str(Path(__file__).parent.parent)
    env = os.environ | without(folder, "mindspore")
    env |= {"PYTHONPATH": f"{env['PYTHONPATH']}{os.pathsep}{here}", "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr


def test_every_package_is_imported(tmp_path: Path) -> None:
    runs(IMPORTS, tmp_path)


def test_every_verb_works_on_a_recipe_for_pytorch_and_one_for_mindspore_says_what_to_install(tmp_path: Path) -> None:
    runs(VERBS, tmp_path)
