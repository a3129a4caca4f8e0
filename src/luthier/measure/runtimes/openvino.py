"""OpenVINO on the CPU, with the exported file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from luthier.errors import MissingPackage
from luthier.measure.registry import runs
from luthier.measure.subject import Prepared, Subject

__all__ = ["open_vino"]


@runs("openvino")
@contextmanager
def open_vino(subject: Subject, images: NDArray[np.float32], *, threads: int) -> Iterator[Prepared]:
    """From array to array, in float32 whatever the processor could do, since no other runtime here rounds to less."""
    try:
        import openvino
    except ImportError as error:
        raise MissingPackage("OpenVINO is not installed", hint="pip install 'luthier[openvino]'") from error
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    core = openvino.Core()
    model = core.read_model(subject.onnx.data)
    model.reshape({0: openvino.PartialShape(list(images.shape))})
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    inputs = {0: images}
    yield Prepared(infer=lambda: request.infer(inputs)[0], device="cpu")
