"""What CIFAR-10 training takes beyond what `import torch` takes, at its peak. Target: 800 MB. Needs LUTHIER_DATA."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from benchmarks.peers import machine

TRAIN = """
import sys
from luthier.training import train
train("lenet5-cifar10", overrides=["strategy.epochs=2"], out=sys.argv[1])
"""


def peak_mb(code: str, *arguments: str) -> float:
    report = "\nimport resource; print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    done = subprocess.run(
        [sys.executable, "-c", code + report, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    peak = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("peak"))
    return int(peak.split()[1]) * 1024 / 1e6  # Linux counts in units of 1,024 bytes


def main() -> None:
    with tempfile.TemporaryDirectory() as out:
        torch, training = peak_mb("import torch"), peak_mb(TRAIN, out)
    print(f"import torch {torch:.0f} MB, training {training:.0f} MB at its peak: {training - torch:.0f} MB beyond it")
    print(f"lenet5-cifar10, 2 epochs with evaluation and checkpoints, n = 1; {machine()}")


if __name__ == "__main__":
    main()
