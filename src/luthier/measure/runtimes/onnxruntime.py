"""ONNX Runtime on the CPU, with the exported file: what most deployments run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from luthier.errors import MissingPackage
from luthier.measure.registry import runs
from luthier.measure.subject import Prepared, Subject

__all__ = ["onnx_runtime"]


@runs("onnxruntime")
@contextmanager
def onnx_runtime(subject: Subject, images: NDArray[np.float32], *, threads: int) -> Iterator[Prepared]:
    """From array to array, as its users call it; its threads are the session's own and end with it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackage("ONNX Runtime is not installed", hint="pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(subject.onnx.data, options, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: images}
    yield Prepared(infer=lambda: session.run(None, inputs), device="cpu")
