"""How long `import luthier` and `luthier --help` take, and that neither loads a framework.

Targets: 100 ms and 300 ms.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.peers import machine

ROUNDS = 15
PROBE = "import sys, luthier{}; print(*(m for m in ('torch', 'mindspore', 'numpy', 'matplotlib') if m in sys.modules))"


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1e3


def main() -> None:
    luthier = str(Path(sys.executable).with_name("luthier"))
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import luthier": [sys.executable, "-c", "import luthier"],
        "luthier --help": [luthier, "--help"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(timed(command))
    for name, values in times.items():
        print(f"{name:16} median {statistics.median(values):6.1f} ms   min {min(values):6.1f} ms")
    for name, extra in (("import luthier", ""), ("luthier --help", ".cli.group")):
        loaded = subprocess.run([sys.executable, "-c", PROBE.format(extra)], check=True, capture_output=True, text=True)
        print(f"{name:16} loads of torch, mindspore, numpy, matplotlib: {loaded.stdout.strip() or 'none'}")
    print(f"n = {ROUNDS}, interleaved; {machine()}")


if __name__ == "__main__":
    main()
