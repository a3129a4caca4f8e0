from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import luthier.data

HEAVY = ("torch", "mindspore", "matplotlib", "PIL", "pooch", "requests", "onnx", "onnxruntime")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_the_door_names_everything_public_in_order() -> None:
    public = [name for name, value in vars(luthier.data).items() if not name.startswith("_") and _is_ours(value)]
    assert luthier.data.__all__ == sorted(luthier.data.__all__)
    assert set(luthier.data.__all__) == set(public)


def _is_ours(value: object) -> bool:
    return callable(value) and getattr(value, "__module__", "").startswith("luthier.data")


def test_importing_it_and_training_from_memory_loads_nothing_heavy() -> None:
    code = f"""
import sys
from luthier.data import open_data
from luthier.recipe import Data, Normalize, RandomCrop, RandomFlip
data = open_data(Data(name="digits", normalize=Normalize(mean=(0.5,), std=(0.5,))), seed=1)
next(data.train.epoch(0))
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert run(code) == "[]"


def test_cifar10_takes_its_own_size_and_little_more(real_data: Path) -> None:
    code = f"""
import resource, sys
from luthier.data import open_data
from luthier.recipe import Data
def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
before = peak_mb()
data = open_data(Data(), seed=1, root={str(real_data)!r})
for batch in data.train.epoch(0):
    pass
print(peak_mb() - before)
"""
    assert float(run(code)) < 180 + 31 * 2 + 20  # the images, a file being read and turned, and the rest
