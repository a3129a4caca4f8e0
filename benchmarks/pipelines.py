"""Our pipeline and MindData's, `data.pipeline = "luthier"` and `"minddata"`, as a training takes batches from them.

CIFAR-10 in batches of 32, from the publisher's files, from class folders of JPEG files, and from MindRecord packs of
both. Every round takes each of them once, in an order that rotates; a figure is the median over the rounds, a ratio the
median of the rounds' ratios. What passes before an epoch's first batch stands in a column of its own. By default all
threads share the cores that this process may use; with `--one-core` they share one.

Needs MindSpore beside Luthier, and LUTHIER_DATA with `cifar10` and, for the files, `cifar10-folder`.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers import machine
from luthier.data import DataSet, open_data, pack
from luthier.data.places import roots
from luthier.recipe import Data, RandomCrop, RandomFlip, Resize

SIZE, WARMUP, STEPS, ROUNDS = 32, 20, 200, 9
PIXELS = (RandomCrop(), RandomFlip())
PICTURES = (Resize(size=40), RandomCrop(size=32, padding=0), RandomFlip())
PIPELINES = ("luthier", "minddata")


class Times(NamedTuple):
    first_s: float
    rest_s: float


def timed(data: DataSet, epoch: int) -> Times:
    batches = data.train.epoch(epoch)
    began = time.perf_counter()
    next(batches)
    first = time.perf_counter()
    next(islice(batches, WARMUP - 1, None))
    warm = time.perf_counter()
    for _ in islice(batches, STEPS):
        pass
    done = time.perf_counter()
    batches.close()  # type: ignore[attr-defined]
    return Times(first - began, done - warm)


def opened(folder: Path) -> dict[str, DataSet]:
    """Every set by either pipeline."""
    sets: dict[str, Data] = {"CIFAR-10's files": Data(name="cifar10", batch_size=SIZE, train=PIXELS)}
    pack("cifar10", folder / "pixels")
    sets["a pack of them"] = Data(name="mindrecord", path=str(folder / "pixels"), batch_size=SIZE, train=PIXELS)
    jpegs = next((root / "cifar10-folder" for root in roots() if (root / "cifar10-folder").is_dir()), None)
    if jpegs:
        options = {"batch_size": SIZE, "train": PICTURES, "eval": PICTURES}
        pack("folder", folder / "jpegs", path=str(jpegs))
        sets["JPEG files"] = Data(name="folder", path=str(jpegs), **options)  # type: ignore[arg-type]
        sets["a pack of those"] = Data(name="mindrecord", path=str(folder / "jpegs"), **options)  # type: ignore[arg-type]
    fields = {
        name: {field: getattr(config, field) for field in config.__struct_fields__} for name, config in sets.items()
    }
    return {
        f"{name}, {kind}": open_data(Data(**{**fields[name], "pipeline": kind}), seed=1)
        for name in sets
        for kind in PIPELINES
    }


def main() -> None:
    if "--one-core" in sys.argv:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        contenders = opened(Path(folder))
        names = list(contenders)
        times: dict[str, list[Times]] = {name: [] for name in names}
        for number in range(ROUNDS):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                times[name].append(timed(contenders[name], number))
        report(times)
    cores = len(os.sched_getaffinity(0))
    versions = machine("numpy", "pillow", "mindspore")
    print(f"\nn = {ROUNDS} rounds of {STEPS} batches of {SIZE}, {cores} cores used; {versions}")


def report(times: dict[str, list[Times]]) -> None:
    print("| | Luthier, images/s | MindData, images/s | Luthier is | first batch after, Luthier | MindData |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in dict.fromkeys(name.rpartition(", ")[0] for name in times):
        ours, theirs = (times[f"{name}, {kind}"] for kind in PIPELINES)
        rates = [statistics.median(STEPS * SIZE / each.rest_s for each in taken) for taken in (ours, theirs)]
        ratio = statistics.median(b.rest_s / a.rest_s for a, b in zip(ours, theirs, strict=True))
        firsts = [statistics.median(each.first_s for each in taken) for taken in (ours, theirs)]
        print(
            f"| {name} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio:.2f}× "
            f"| {firsts[0] * 1e3:,.0f} ms | {firsts[1] * 1e3:,.0f} ms |"
        )


if __name__ == "__main__":
    main()
