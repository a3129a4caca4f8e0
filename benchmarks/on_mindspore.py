"""Training on MindSpore's CPU: Luthier beside MindSpore as installed, its Model.train, a bare loop, and PyTorch.

LeNet-5 and `slim` at batch 32 on CIFAR-10, graph mode, momentum. Every contender is a process of its own,
since the cap on MindSpore's convolutions is a process's, and is stopped while it is not its turn. Every round runs each
once, in an order that rotates; a figure is the median over the rounds, a ratio the median of the rounds' ratios.
The session and the two loops see the same prepared batches; the bare loop has the session's loss, the tutorial's
`nn.CrossEntropyLoss`. "Luthier" and "Model.train" crop and flip by their own data pipelines. Targets: 10× as installed
on an AVX-512 processor, at most 2× PyTorch, no slower than Model.train, and at most 1.05× the bare loop.

Needs LUTHIER_DATA with CIFAR-10.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from benchmarks.peers import machine

SIZE, ROUNDS = 32, 9
STEPS = {"lenet5": 300, "slim": 20}
FEWER = {"lenet5": 20, "slim": 2}  # for what takes its time
SLOW, BARE = "MindSpore as installed", "bare loop"
Steps = Callable[[int], None]


def source() -> Any:
    from luthier.data import open_source

    return open_source("cifar10")


def luthier(network: str, engine: str, *, prepared: bool) -> Steps:
    from luthier.data import Batch, open_data
    from luthier.engines import open_session
    from luthier.recipe import load

    given = [f"engine={engine}", f"model.name={network}", "device=cpu"]
    recipe = load("lenet5-cifar10", [*given, "mode=graph"] if engine == "mindspore" else given)
    session = open_session(recipe, shape=(32, 32, 3), num_classes=10)
    data = open_data(recipe.data, seed=1, source=source())

    def endless() -> Iterator[Batch]:
        return chain.from_iterable(data.train.epoch(epoch) for epoch in count())

    batches = iter([next(endless())] * 10**7) if prepared else endless()

    def run(steps: int) -> None:
        for number, batch in enumerate(islice(batches, steps)):
            loss = session.step(batch, 0.01)
            if number % 50 == 0:
                float(loss)
        float(loss)

    return run


def short_loss() -> Callable[[Any, Any], Any]:
    """The cross-entropy by few operators, as Luthier's session computes it."""
    import mindspore
    from mindspore import Tensor, ops

    log_softmax, one_hot, total = ops.LogSoftmax(), ops.OneHot(), ops.ReduceSum()
    on, off = Tensor(1.0, mindspore.float32), Tensor(0.0, mindspore.float32)

    def loss(logits: Tensor, labels: Tensor) -> Tensor:
        return total(log_softmax(logits) * one_hot(labels, 10, on, off)) * (-1.0 / logits.shape[0])

    return loss


def bare(network: str, *, capped: bool, short: bool = False) -> Steps:
    """Normalisation, loss, gradients and MindSpore's own Momentum in one graph, as a tutorial would write it.

    With `short` its loss is the session's, and what is left between them is the engine's own cost.
    """
    import mindspore
    from mindspore import Tensor, nn, ops, value_and_grad

    if capped:
        from luthier.engines.mindspore import cap_where_it_helps

        cap_where_it_helps()
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    net, loss_of = cell(network), short_loss() if short else nn.CrossEntropyLoss()
    scale, shift = normalisation()

    class Step(nn.Cell):
        def __init__(self) -> None:
            super().__init__(auto_prefix=False)
            self.optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
            self.graded = value_and_grad(self.forward, None, self.optimizer.parameters)

        def forward(self, images: Tensor, labels: Tensor) -> Tensor:
            x = ops.transpose(images.astype(mindspore.float32), (0, 3, 1, 2)) * scale + shift
            return loss_of(net(x), labels)

        def construct(self, images: Tensor, labels: Tensor) -> Tensor:
            loss, gradients = self.graded(images, labels)
            return ops.depend(loss, self.optimizer(gradients))

    step = Step()
    step.set_train()
    images, labels = next(iter_arrays())

    def run(steps: int) -> None:
        for number in range(steps):
            loss = step(Tensor(images), Tensor(labels))
            if number % 50 == 0:
                loss.asnumpy()
        loss.asnumpy()

    return run


def model(network: str) -> Steps:
    """Model.train with MindData, one worker at every stage, under the same cap."""
    import mindspore
    from mindspore import dataset as ds
    from mindspore import nn
    from mindspore.dataset import transforms, vision

    from luthier.engines.mindspore import cap_where_it_helps

    cap_where_it_helps()
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    mean, std = ([255 * value for value in values] for values in numbers())
    place = source().place
    folder = place / "train" if (place / "train").is_dir() else place
    operations = [
        vision.RandomCrop((32, 32), (4, 4, 4, 4)),
        vision.RandomHorizontalFlip(),
        vision.Normalize(mean, std),
        vision.HWC2CHW(),
    ]

    def data(steps: int) -> Any:
        images = ds.Cifar10Dataset(str(folder), usage="train", shuffle=True, num_parallel_workers=1)
        images = images.map(operations, "image", num_parallel_workers=1)
        images = images.map(transforms.TypeCast(mindspore.int32), "label", num_parallel_workers=1)
        return images.batch(SIZE, drop_remainder=True, num_parallel_workers=1).take(steps)

    net = cell(network)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    trained = mindspore.Model(net, nn.CrossEntropyLoss(), optimizer, metrics=None)

    def run(steps: int) -> None:
        trained.train(1, data(steps), dataset_sink_mode=False)

    return run


def cell(network: str) -> Any:
    from luthier.recipe import Model
    from luthier.zoo.mindspore import build

    return build(Model(name=network), shape=(32, 32, 3), num_classes=10, seed=1)


def numbers() -> tuple[tuple[float, ...], tuple[float, ...]]:
    from luthier.recipe import Normalize

    return Normalize().mean, Normalize().std


def normalisation() -> tuple[Any, Any]:
    from mindspore import Tensor

    mean, std = (np.array(values) for values in numbers())
    shaped = ((values).astype(np.float32).reshape(1, 3, 1, 1) for values in (1 / (255 * std), -mean / std))
    scale, shift = (Tensor(values) for values in shaped)
    return scale, shift


def iter_arrays() -> Iterator[tuple[Any, Any]]:
    from luthier.data import open_data
    from luthier.recipe import load

    data = open_data(load("lenet5-cifar10").data, seed=1, source=source())
    return ((batch.images, batch.labels) for batch in data.train.epoch(0))


CONTENDERS: dict[str, Callable[[str], Steps]] = {
    "Luthier": lambda network: luthier(network, "mindspore", prepared=False),
    "Luthier on PyTorch": lambda network: luthier(network, "torch", prepared=False),
    "Model.train with MindData": model,
    "Luthier's session": lambda network: luthier(network, "mindspore", prepared=True),
    BARE: lambda network: bare(network, capped=True, short=True),
    "tutorial's loop": lambda network: bare(network, capped=True),
    SLOW: lambda network: bare(network, capped=False),
}


class Contender:
    """A process that runs steps on demand, and is stopped in between."""

    def __init__(self, name: str, network: str) -> None:
        self._name = f"{name} on {network}"
        self.steps = (FEWER if name == SLOW else STEPS)[network]
        command = [sys.executable, "-m", "benchmarks.on_mindspore", name, network]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()
        self._process.send_signal(signal.SIGSTOP)

    def ms_a_step(self) -> float:
        self._process.send_signal(signal.SIGCONT)
        pipe(self._process.stdin).write(f"{self.steps}\n")
        pipe(self._process.stdin).flush()
        seconds = self._answer()
        self._process.send_signal(signal.SIGSTOP)
        return seconds / self.steps * 1e3

    def _answer(self) -> float:
        for line in pipe(self._process.stdout):
            if line.startswith("seconds "):
                return float(line.split()[1])
        raise SystemExit(f"{self._name} ended with {self._process.wait()}")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def serve(name: str, network: str) -> None:
    run = CONTENDERS[name](network)
    run(3)
    print("seconds 0", flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        run(int(line))
        print(f"seconds {time.perf_counter() - began}", flush=True)


def report(network: str) -> None:
    contenders = {name: Contender(name, network) for name in CONTENDERS}
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(ROUNDS):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            times[name].append(contenders[name].ms_a_step())
    for contender in contenders.values():
        contender.close()
    print(f"\n{network}\n\n| | ms a step | least | × Luthier |\n| --- | ---: | ---: | ---: |")
    for name, taken in times.items():
        ratio = statistics.median(theirs / ours for theirs, ours in zip(taken, times["Luthier"], strict=True))
        print(f"| {name} | {statistics.median(taken):.2f} | {min(taken):.2f} | {ratio:.2f} |")
    pairs = zip(times["Luthier's session"], times[BARE], strict=True)
    print(
        f"\nThe session takes {statistics.median(ours / theirs for ours, theirs in pairs):.3f} of the bare loop's time."
    )


def main() -> None:
    for network in STEPS:
        report(network)
    print(f"\nn = {ROUNDS} rounds of {STEPS} steps of {SIZE} images, {SLOW}: {FEWER}; {machine('mindspore', 'numpy')}")


if __name__ == "__main__":
    os.environ.setdefault("GLOG_v", "3")
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).resolve().parent.parent))
    serve(*sys.argv[1:]) if len(sys.argv) > 1 else main()
