"""A process that times a MindIR on so many cores, and leaves its times and the last outputs in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from luthier.measure.timing import timed

__all__ = ["compiled", "main"]


def main(folder: Path, threads: int, warmup: int, runs: int) -> None:
    """The cores are chosen before MindSpore is loaded, which counts them once."""
    if not hasattr(os, "sched_setaffinity"):
        sys.exit("this system does not let a process choose its cores")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    infer = compiled(folder)
    times = timed(infer, warmup=warmup, runs=runs)
    np.save(folder / "outputs.npy", infer())
    (folder / "times.json").write_bytes(msgspec.json.encode(times))


def compiled(folder: Path) -> Callable[[], NDArray[np.float32]]:
    """The graph in the folder, which answers the images beside it; compiled, since it has answered them once."""
    from luthier.engines.mindspore import cap_where_it_helps, keep_from_terminal

    keep_from_terminal()
    cap_where_it_helps()
    import mindspore

    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    graph = mindspore.nn.GraphCell(mindspore.load(str(folder / "network.mindir")))
    images = np.load(folder / "images.npy")

    def infer() -> NDArray[np.float32]:
        outputs: NDArray[np.float32] = graph(mindspore.Tensor(images)).asnumpy()
        return outputs

    infer()
    return infer


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
