"""Weights stored as float16 in an ONNX graph; what runs computes in float32 as before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.errors import ExportError

__all__ = ["in_float16"]

FEWEST_AXES = 2  # biases and normalisations are few, and a runtime folds them with what they stand beside


def in_float16(data: bytes) -> bytes:
    """A runtime widens them once, when it loads the file: the latency is float32's, the file half as large."""
    import onnx
    from onnx.helper import make_node
    from onnx.numpy_helper import from_array, to_array

    model = onnx.load_from_string(data)
    kept, casts = [], []
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT or len(tensor.dims) < FEWEST_AXES:
            kept.append(tensor)
            continue
        stored = f"{tensor.name}.float16"
        kept.append(from_array(_narrowed(to_array(tensor), tensor.name), stored))
        casts.append(make_node("Cast", [stored], [tensor.name], name=f"{tensor.name}/Cast", to=onnx.TensorProto.FLOAT))
    if not casts:
        raise ExportError("The graph has no weights that could be stored as float16")
    nodes = [*casts, *model.graph.node]
    for field, items in ((model.graph.initializer, kept), (model.graph.node, nodes)):
        copies = [type(item).FromString(item.SerializeToString()) for item in items]
        del field[:]
        field.extend(copies)
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _narrowed(weights: NDArray[Any], name: str) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        narrow = weights.astype(np.float16)
    if not np.isfinite(narrow).all():
        raise ExportError(f"A weight of {np.abs(weights).max():.3g} is beyond float16", at=name)
    return narrow
