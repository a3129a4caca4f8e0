"""What porting and proving ResNet-50 takes, and how fast the emitted Cell runs beside the one written by hand.

`python -m benchmarks.porting` prints, each in a process of its own: the seconds of a port and of a proof up to the
gradients (wall clock, and the processor's), the memory of a port beyond that of importing both frameworks, as a
multiple of the weights' size, and the median ratio of the two Cells' times, taken in turn. Targets: 15 s, 90 s on two
cores with the port, four times, and 3 %. The machine's load stands beside them: on a busy one wall clocks mean little.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.peers import machine

NETS = Path(__file__).resolve().parent.parent / "tests" / "port" / "nets.py"
PORT_S, PROOF_S, MEMORY, SPEED = 15.0, 90.0, 4.0, 0.03
SHAPE = "1,3,224,224"
BACKWARD = "gradients"
ROUNDS = 15


def frameworks() -> dict[str, float]:
    """Importing, and a first operation of each: what any program that uses both takes."""
    import mindspore
    import torch

    torch.zeros(1).add(1)
    (mindspore.Tensor([1.0]) + 1).asnumpy()
    return {"peak_mb": peak_mb()}


def ported() -> dict[str, float]:
    """A port, with the memory at its height."""
    frameworks()
    from luthier.port import port

    wall, own = perf_counter(), process_time()
    with tempfile.TemporaryDirectory() as folder:
        done = port(f"{NETS}:resnet50", inputs=[SHAPE], output=folder)
        size = (done.folder / "weights.safetensors").stat().st_size / 1e6
    return {"wall_s": perf_counter() - wall, "cpu_s": process_time() - own, "peak_mb": peak_mb(), "weights_mb": size}


def proven() -> dict[str, float]:
    """The rungs from the structure to the gradients, of the whole climb."""
    from luthier.port import port
    from luthier.proof import prove

    with tempfile.TemporaryDirectory() as folder:
        port(f"{NETS}:resnet50", inputs=[SHAPE], output=folder)
        wall, own = perf_counter(), process_time()
        verdict = prove(folder)
        whole, cpu = perf_counter() - wall, process_time() - own
    names = [rung.name for rung in verdict.rungs]
    rungs = sum(rung.seconds for rung in verdict.rungs[: names.index(BACKWARD) + 1])
    return {"proven": verdict.proven, "wall_s": rungs, "whole_s": whole, "whole_cpu_s": cpu}


def speed() -> dict[str, float]:
    """Both Cells on the same images in a graph, in turn: the median of the rounds' ratios, there and back."""
    import mindspore
    import numpy as np

    from luthier.engines.mindspore import cap_where_it_helps
    from luthier.port import port
    from luthier.recipe import Model
    from luthier.zoo.mindspore import build

    cap_where_it_helps()
    by_hand = build(Model(name="resnet50"), shape=(224, 224, 3), num_classes=1000)
    image = mindspore.Tensor(np.random.default_rng(0).standard_normal((4, 3, 96, 96)).astype(np.float32))
    with tempfile.TemporaryDirectory() as folder:  # a graph is compiled from the source, when it first runs
        emitted = port(f"{NETS}:resnet50", inputs=[SHAPE], output=folder).cell
        mindspore.set_context(mode=mindspore.GRAPH_MODE)
        return {
            name: _ratio([prepared(cell, image) for cell in (emitted, by_hand)])
            for name, prepared in (("forward", _forward), ("backward", _backward))
        }


def _ratio(contenders: list[Callable[[], object]]) -> float:
    """Of the first's time to the second's, in an order that turns round."""
    for contender in contenders:
        contender()
    ratios = []
    for number in range(ROUNDS):
        order = contenders if number % 2 else contenders[::-1]
        times = {id(contender): _timed(contender) for contender in order}
        ratios.append(times[id(contenders[0])] / times[id(contenders[1])])
    return statistics.median(ratios)


def _forward(cell: Any, image: Any) -> Callable[[], object]:
    def run() -> object:
        cell.set_train(False)
        return cell(image).asnumpy()

    return run


def _backward(cell: Any, image: Any) -> Callable[[], object]:
    import mindspore

    def total(x: Any) -> Any:
        return cell(x).sum()

    derive = mindspore.value_and_grad(total, None, tuple(cell.trainable_params()))

    def run() -> object:
        cell.set_train(True)
        _, gradients = derive(image)
        return gradients[-1].asnumpy()

    return run


def _timed(run: Callable[[], object]) -> float:
    """Of the processor: whatever else runs does not count."""
    began = process_time()
    run()
    return process_time() - began


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


PARTS = {"frameworks": frameworks, "ported": ported, "proven": proven, "speed": speed}


def apart(name: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.porting", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("{")), None)
    if line is None:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(line)
    return found


def main() -> int:
    if len(sys.argv) > 1:
        print("\n" + json.dumps(PARTS[sys.argv[1]]()))
        return 0
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}", flush=True)
    base, port, proof, ratio = (apart(name) for name in PARTS)
    memory = (port["peak_mb"] - base["peak_mb"]) / port["weights_mb"]
    print(f"port        {port['wall_s']:.1f} s, {port['cpu_s']:.1f} s of the processor (target {PORT_S:.0f} s)")
    together = port["wall_s"] + proof["wall_s"]
    print(
        f"and proof   {together:.1f} s up to the gradients (target {PROOF_S:.0f} s); the climb {proof['whole_s']:.0f} s"
    )
    print(f"memory      {memory:.2f} times the weights' {port['weights_mb']:.0f} MB (target {MEMORY:.0f})")
    print(f"speed       {ratio['forward']:.3f} forward, {ratio['backward']:.3f} with gradients (at most {1 + SPEED})")
    fine = port["cpu_s"] < PORT_S and memory < MEMORY and all(one <= 1 + SPEED for one in ratio.values())
    return 0 if fine and proof["proven"] else 1


if __name__ == "__main__":
    sys.exit(main())
