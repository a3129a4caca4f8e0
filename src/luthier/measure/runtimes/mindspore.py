"""MindSpore with the exported MindIR, compiled as a graph."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
from numpy.typing import NDArray

from luthier.errors import MeasureError
from luthier.measure.mindir_process import compiled
from luthier.measure.registry import runs
from luthier.measure.subject import Prepared, Subject

__all__ = ["in_mindspore"]

TIMEOUT_S = 1800


@runs("mindspore")
@contextmanager
def in_mindspore(subject: Subject, images: NDArray[np.float32], *, threads: int) -> Iterator[Prepared]:
    """On a CPU in a process of its own: MindSpore takes as many threads as it finds cores when it begins."""
    data, device = subject.mindir.data, subject.network.on("mindspore").device
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "network.mindir").write_bytes(data)
        np.save(folder / "images.npy", images)
        if device != "cpu":  # which another process may not share
            yield Prepared(infer=compiled(folder), device=device)
            return

        def times(warmup: int, count: int) -> list[float]:
            return _told(folder, threads, warmup, count)

        def infer() -> NDArray[np.float32]:
            times(0, 1)
            outputs: NDArray[np.float32] = np.load(folder / "outputs.npy")
            return outputs

        yield Prepared(infer=infer, device=device, times=times)


def _told(folder: Path, threads: int, warmup: int, count: int) -> list[float]:
    command = [sys.executable, "-m", "luthier.measure.mindir_process", str(folder), *map(str, (threads, warmup, count))]
    done = subprocess.run(
        command,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        said = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise MeasureError(f"MindSpore's own process could not run the network: {said}", at="score.runtime")
    return msgspec.json.decode((folder / "times.json").read_bytes(), type=list[float])
