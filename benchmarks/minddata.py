"""MindData's side of `benchmarks.data`, run by an interpreter that has MindSpore: a line in, one epoch's times out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any


def pipeline(folder: str, size: int, mean: list[float], std: list[float]) -> Any:
    """One worker at every stage, as its tutorials write it: crop, flip, rescale, normalise, channels first, batch."""
    from mindspore import dataset as ds
    from mindspore.dataset import vision

    ds.config.set_num_parallel_workers(1)
    ds.config.set_seed(1)
    images = ds.Cifar10Dataset(folder, usage="train", shuffle=True, num_parallel_workers=1)
    operations = [
        vision.RandomCrop((32, 32), (4, 4, 4, 4)),
        vision.RandomHorizontalFlip(),
        vision.Rescale(1 / 255, 0.0),
        vision.Normalize(mean, std),
        vision.HWC2CHW(),
    ]
    return images.map(operations, "image", num_parallel_workers=1).batch(
        size, drop_remainder=True, num_parallel_workers=1
    )


def main(folder: str, size: str, warmup: str, steps: str, *numbers: str) -> None:
    from mindspore import __version__

    values = [float(number) for number in numbers]
    data = pipeline(folder, int(size), values[:3], values[3:])
    print(__version__, flush=True)
    for _ in sys.stdin:
        batches: Iterator[dict[str, Any]] = data.create_dict_iterator(num_epochs=1, output_numpy=True)
        for _ in range(int(warmup)):
            next(batches)
        began, cpu_began = time.perf_counter(), time.process_time()
        for _ in range(int(steps)):
            batch = next(batches)
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        assert batch["image"].shape == (int(size), 3, 32, 32)
        assert batch["image"].dtype.name == "float32"
        for _ in batches:  # leave nothing running while the others are timed
            pass
        print(seconds, cpu_seconds, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
