"""What the loop costs: LeNet-5, batch 32, CPU, against a bare PyTorch loop, Lightning and Keras 3 on the same batches.

Every round runs each of them once, in an order that rotates; the figure is the median over the rounds of a round's
ratio to the bare loop. Luthier runs as `luthier train` does, with its progress line on a terminal, its event file and
its checks for a loss that is not finite. The bare loop has the same channels-last layout and the same fused optimizer,
and reads its loss every 50 steps; "bare, as usually written" has neither layout nor fused optimizer. Lightning has its
progress bar and its TensorBoard logger, Keras its progress bar and a CSV file an epoch (its TensorBoard logger needs
TensorFlow). A round is an epoch of CIFAR-10: over the first 800 steps alone, where a run's start weighs more, the ratio
was 1.04 on a quiet machine and 1.06 on a busy one. Target: 1.03.
"""

from __future__ import annotations

import os
import pty
import statistics
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.peers import inside, machine

inside("lightning", "keras", "tensorboard")
os.environ["KERAS_BACKEND"] = "torch"

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from luthier import zoo  # noqa: E402
from luthier.data import Batch  # noqa: E402
from luthier.recipe import Model, load  # noqa: E402

STEPS, ROUNDS, SIZE = 1562, 8, 32  # an epoch of CIFAR-10
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)


def batches() -> list[Batch]:
    draw = np.random.default_rng(0)
    return [
        Batch(images=draw.integers(0, 256, (SIZE, 32, 32, 3), np.uint8), labels=draw.integers(0, 10, SIZE, np.int32))
        for _ in range(STEPS)
    ]


def network() -> nn.Module:
    return zoo.build(Model(name="lenet5"), shape=(32, 32, 3), num_classes=10, seed=1)


def rates() -> list[float]:
    return [0.005 * (1 + np.cos(np.pi * step / STEPS)) for step in range(STEPS)]


def bare(data: list[Batch], *, tuned: bool) -> float:
    layout = torch.channels_last if tuned else torch.contiguous_format
    net = network().to(memory_format=layout)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9, fused=tuned)
    mean, std = torch.tensor(MEAN).view(1, 3, 1, 1), torch.tensor(STD).view(1, 3, 1, 1)
    net.train()
    began = time.perf_counter()
    for step, (batch, rate) in enumerate(zip(data, rates(), strict=True)):
        x = torch.from_numpy(batch.images).permute(0, 3, 1, 2).to(torch.float32, memory_format=layout)
        x = x.div_(255).sub_(mean).div_(std)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = functional.cross_entropy(net(x), torch.from_numpy(batch.labels).long())
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % 50 == 0:
            loss.item()
    return time.perf_counter() - began


def luthier(data: list[Batch]) -> float:
    from luthier.cli.progress import Progress
    from luthier.data import arrays
    from luthier.training import train

    images = np.concatenate([batch.images for batch in data])
    labels = np.concatenate([batch.labels for batch in data])
    clock = Clock()
    recipe = load("lenet5-cifar10", [f"strategy.steps={STEPS}", "record.evaluate_every_epochs=0", "data.train=[]"])
    source = arrays(images, labels, images[:32], labels[:32], classes=[str(k) for k in range(10)])
    with tempfile.TemporaryDirectory() as out:
        train(recipe, out=out, data=source, listeners=[clock, Progress()])
    return clock.seconds


class Clock:
    """From the run's start to its last step: what a bare loop does too."""

    seconds = 0.0

    def run_started(self, event: object) -> None:
        self.began = time.perf_counter()

    def step_ended(self, event: object) -> None:
        self.seconds = time.perf_counter() - self.began


def lightning(data: list[Batch]) -> float:
    import lightning.pytorch as pl
    from lightning.pytorch.loggers import TensorBoardLogger

    mean, std = torch.tensor(MEAN).view(1, 3, 1, 1), torch.tensor(STD).view(1, 3, 1, 1)

    class Net(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = network()

        def training_step(self, batch: Any, _index: int) -> Tensor:
            images, labels = batch
            x = images.permute(0, 3, 1, 2).float().div_(255).sub_(mean).div_(std)
            loss = functional.cross_entropy(self.net(x), labels.long())
            self.log("train/loss", loss, prog_bar=True)
            return loss

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.SGD(self.parameters(), 0.01, 0.9)
            scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    class Time(pl.Callback):
        def on_train_start(self, *_: Any) -> None:
            self.began = time.perf_counter()

        def on_train_batch_end(self, *_: Any) -> None:
            self.ended = time.perf_counter()

    clock = Time()
    loader = torch.utils.data.DataLoader(Given(data), batch_size=None)
    with tempfile.TemporaryDirectory() as out:
        trainer = pl.Trainer(
            max_epochs=1,
            accelerator="cpu",
            logger=TensorBoardLogger(out),
            callbacks=[clock],
            enable_checkpointing=False,
        )
        trainer.fit(Net(), loader)
    return clock.ended - clock.began


class Given(torch.utils.data.IterableDataset[Any]):
    def __init__(self, data: list[Batch]) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter((torch.from_numpy(batch.images), torch.from_numpy(batch.labels)) for batch in self.data)


def keras(data: list[Batch]) -> float:
    import keras
    from keras import layers

    keras.config.set_image_data_format("channels_first")
    net = keras.Sequential(
        [
            layers.Input((3, 32, 32)),
            *(layers.Conv2D(6, 5, use_bias=False, activation="relu"), layers.MaxPooling2D()),
            *(layers.Conv2D(16, 5, use_bias=False, activation="relu"), layers.MaxPooling2D()),
            layers.Flatten(),
            *(layers.Dense(120), layers.Dense(84), layers.Dense(10)),
        ]
    )
    mean, std = (np.array(numbers, np.float32).reshape(1, 3, 1, 1) for numbers in (MEAN, STD))
    schedule = keras.optimizers.schedules.CosineDecay(0.01, STEPS)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile(keras.optimizers.SGD(schedule, momentum=0.9), loss)

    class Time(keras.callbacks.Callback):
        def on_train_begin(self, logs: Any = None) -> None:
            self.began = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.ended = time.perf_counter()

    def given() -> Iterator[Any]:
        for batch in data:
            yield (batch.images.transpose(0, 3, 1, 2).astype(np.float32) / 255 - mean) / std, batch.labels

    clock = Time()
    with tempfile.TemporaryDirectory() as out:
        log = keras.callbacks.CSVLogger(f"{out}/log.csv")
        net.fit(given(), steps_per_epoch=STEPS, epochs=1, callbacks=[log, clock])
    return clock.ended - clock.began


def on_a_terminal() -> None:
    """Progress bars are drawn on a terminal alone: give standard error and output one that nobody looks at."""
    leader, follower = pty.openpty()
    for stream in (sys.stdout, sys.stderr):
        os.dup2(follower, stream.fileno())

    def swallow() -> None:
        while os.read(leader, 1 << 16):
            pass

    threading.Thread(target=swallow, daemon=True).start()


def main() -> None:
    warnings.simplefilter("ignore")
    data = batches()
    runners: dict[str, Callable[[], float]] = {
        "bare loop": lambda: bare(data, tuned=True),
        "Luthier": lambda: luthier(data),
        "bare, as usually written": lambda: bare(data, tuned=False),
        "Lightning": lambda: lightning(data),
        "Keras 3 on PyTorch": lambda: keras(data),
    }
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    on_a_terminal()
    sys.excepthook = lambda *fault: traceback.print_exception(*fault, file=out)
    times: dict[str, list[float]] = {name: [] for name in runners}
    names = list(runners)
    for number in range(ROUNDS + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            taken = runners[name]()
            if number:  # the first round warms up
                times[name].append(taken)
    for name, seconds in times.items():
        ratios = [own / bare_s for own, bare_s in zip(seconds, times["bare loop"], strict=True)]
        step = statistics.median(seconds) / STEPS * 1e3
        print(f"{name:26} {step:6.2f} ms a step   {statistics.median(ratios):5.2f} × the bare loop", file=out)
    print(f"n = {ROUNDS} rounds of {STEPS} steps, medians; {machine('lightning', 'keras')}", file=out, flush=True)


if __name__ == "__main__":
    main()
