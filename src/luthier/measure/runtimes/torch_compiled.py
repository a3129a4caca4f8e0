"""PyTorch with torch.compile, whose compilation is over before anything is timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from luthier.errors import MeasureError
from luthier.measure.registry import runs
from luthier.measure.runtimes.torch_eager import on_torch
from luthier.measure.subject import Prepared, Subject

__all__ = ["torch_compiled"]


@runs("torch-compiled", needs="torch")
@contextmanager
def torch_compiled(subject: Subject, images: NDArray[np.float32], *, threads: int) -> Iterator[Prepared]:
    """Compiled for this one shape, after the number of threads is set, which the code that comes out depends on."""
    import torch

    torch._dynamo.reset()  # the ninth network of one class would otherwise run uncompiled, and nothing would say so
    module = subject.network.module
    compiled = torch.compile(module, dynamic=False)
    with on_torch(subject, compiled, images, threads=threads) as prepared:
        try:
            prepared.infer()
        except Exception as error:  # the compiler, its C++ compiler, or the network itself
            told = str(error).strip().split("\n")[0] or type(error).__name__
            raise MeasureError(
                f"torch.compile cannot compile the network: {told}",
                at="score.runtime",
                hint="It needs a C++ compiler on the path. Or: --set score.runtime=onnxruntime",
            ) from error
        yield prepared
