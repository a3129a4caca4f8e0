"""LeNet-5 on CIFAR-10 by the course's recipe, over several seeds: the course states 65.7 % and 66.3 %.

Needs LUTHIER_DATA. `python -m benchmarks.course RECIPE SEED...`; two seeds are trained at a time, on one thread each.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.peers import machine
from luthier.store import Result, open_run

SEEDS = (1, 2, 3, 4)


def trained(recipe: str, seed: int, out: Path) -> Result:
    """A run of its own process, as a person starts it."""
    command = [str(Path(sys.executable).with_name("luthier")), "train", recipe, "--out", str(out / str(seed))]
    command += ["--set", f"strategy.seed={seed}", "--set", "engine=torch"]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    [folder] = (out / str(seed)).iterdir()
    result = open_run(folder).result()
    assert result is not None
    return result


def spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def main(recipe: str = "lenet5-cifar10", *seeds: str) -> None:
    chosen = [int(seed) for seed in seeds] or list(SEEDS)
    with tempfile.TemporaryDirectory() as out, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda seed: trained(recipe, seed, Path(out)), chosen))
    print("| seed | accuracy (%) | latency (ms) | score | minutes |\n| ---: | ---: | ---: | ---: | ---: |")
    for seed, result in zip(chosen, results, strict=True):
        minutes = (result.train_seconds or 0) / 60
        print(f"| {seed} | {result.accuracy:.2f} | {result.latency_ms:.3f} | {result.score:.2f} | {minutes:.1f} |")
    accuracy, scores = ([float(getattr(r, name)) for r in results] for name in ("accuracy", "score"))
    print(f"\n{recipe}: accuracy {spread(accuracy)} %, score {spread(scores)}; mean ± standard deviation")
    print(f"n = {len(chosen)} seeds; {machine()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
