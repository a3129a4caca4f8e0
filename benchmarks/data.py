"""Crop, flip and normalise: CIFAR-10 in batches of 32 on one core, against MindData and a per-sample Pillow pipeline.

Every round runs each of them once, in an order that rotates; a figure is the median over the rounds, a ratio the
median of the rounds' ratios. All end in float32 with the channels first: ours by the torch engine's own code,
which leaves them channels last in memory, and once more in plain NCHW, as the peers have them. Pillow works
under PyTorch's DataLoader in the main process, which on one core is its fastest. All are pinned to one core and have
one thread or worker; images per second of CPU time stand beside, as they hold on a machine that others use too.
Targets: 2× MindData, 4× Pillow.

Needs LUTHIER_DATA. MindData runs in a process of its own, under this interpreter or, where that has no MindSpore, in
an environment that is made for it.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import random
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from benchmarks.peers import machine, with_mindspore
from luthier.data import Source, open_data, open_source
from luthier.engines.torch import TorchSession
from luthier.recipe import Data, Recipe

SIZE, WARMUP, STEPS, ROUNDS = 32, 50, 1000, 9
MEAN, STD = torch.tensor(Data().normalize.mean), torch.tensor(Data().normalize.std)
Times = tuple[float, float]  # by the clock, and of the processor
Contender = Callable[[int], Times]


def timed(batches: Iterator[Tensor]) -> Times:
    next(islice(batches, WARMUP - 1, None))
    began, cpu_began = time.perf_counter(), time.process_time()
    for batch in islice(batches, STEPS):
        last = batch
    times = time.perf_counter() - began, time.process_time() - cpu_began
    assert last.shape == (SIZE, 3, 32, 32)
    assert last.dtype == torch.float32
    return times


def luthier(source: Source) -> Contender:
    """Normalised by the engine's own code, whatever it is at the time."""
    data = open_data(Data(batch_size=SIZE), seed=1, source=source)
    session = TorchSession(Recipe(device="cpu"), shape=data.shape, num_classes=len(data.classes), training=False)
    normalised = session._normalised

    def batches(epoch: int) -> Iterator[Tensor]:
        return (normalised(torch.from_numpy(batch.images)) for batch in data.train.epoch(epoch))

    return lambda number: timed(batches(number))


def luthier_plain(source: Source) -> Contender:
    """In the memory layout of the peers."""
    data = open_data(Data(batch_size=SIZE), seed=1, source=source)
    scale, shift = (1 / (255 * STD)).view(3, 1, 1), (-MEAN / STD).view(3, 1, 1)

    def batches(epoch: int) -> Iterator[Tensor]:
        for batch in data.train.epoch(epoch):
            x_BCHW = torch.from_numpy(batch.images).permute(0, 3, 1, 2)
            yield x_BCHW.to(torch.float32, memory_format=torch.contiguous_format).mul_(scale).add_(shift)

    return lambda number: timed(batches(number))


class PillowSet(Dataset[tuple[Tensor, int]]):
    """One image at a time, as torchvision's first transforms do it."""

    def __init__(self, source: Source) -> None:
        self._part = source.train
        self._mean, self._std = MEAN.view(3, 1, 1), STD.view(3, 1, 1)

    def __len__(self) -> int:
        return len(self._part)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        assert isinstance(self._part.images, np.ndarray)
        picture: Image.Image = ImageOps.expand(Image.fromarray(self._part.images[index]), 4)
        left, top = random.randrange(9), random.randrange(9)
        picture = picture.crop((left, top, left + 32, top + 32))
        if random.random() < 0.5:
            picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        image = torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous().to(torch.float32).div_(255)
        return image.sub_(self._mean).div_(self._std), int(self._part.labels[index])


def pillow(source: Source) -> Contender:
    loader = DataLoader(PillowSet(source), batch_size=SIZE, shuffle=True, drop_last=True)
    return lambda _: timed(images for images, _ in loader)


@contextmanager
def minddata(source: Source) -> Iterator[tuple[Contender, str]]:
    assert source.place is not None
    folder = source.place / "train" if (source.place / "train").is_dir() else source.place
    numbers = [str(number) for number in (*MEAN.tolist(), *STD.tolist())]
    script = str(Path(__file__).with_name("minddata.py"))
    command = [with_mindspore(), script, str(folder), str(SIZE), str(WARMUP), str(STEPS), *numbers]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        into, out = process.stdin, process.stdout
        version = next(line for line in out if line.strip())

        def epoch(_: int) -> Times:
            into.write("\n")
            into.flush()
            seconds, cpu_seconds = out.readline().split()
            return float(seconds), float(cpu_seconds)

        yield epoch, version.strip()
        into.close()


def rounds(contenders: dict[str, Contender]) -> dict[str, list[Times]]:
    names = list(contenders)
    times: dict[str, list[Times]] = {name: [] for name in names}
    for number in range(ROUNDS):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(contenders[name](number))
    return times


def report(times: dict[str, list[Times]], first: str) -> None:
    print("| | images/s | images/CPU-s | Luthier is, by the clock | and by CPU time |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, taken in times.items():
        rates = [statistics.median(STEPS * SIZE / each[kind] for each in taken) for kind in (0, 1)]
        ratios = [
            statistics.median(theirs[kind] / ours[kind] for theirs, ours in zip(taken, times[first], strict=True))
            for kind in (0, 1)
        ]
        print(f"| {name} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratios[0]:.1f}× | {ratios[1]:.1f}× |")


def main() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    source = open_source("cifar10")
    contenders = {
        "Luthier": luthier(source),
        "Luthier, plain NCHW": luthier_plain(source),
        "Pillow under DataLoader": pillow(source),
    }
    with minddata(source) as peer:
        contenders["MindData"] = peer[0]
        report(rounds(contenders), "Luthier")
    versions = f"{machine('numpy', 'pillow')}, mindspore {peer[1]}"
    print(f"\nn = {ROUNDS} rounds of {STEPS} batches of {SIZE}, one core; {versions}")


if __name__ == "__main__":
    main()
