"""The weights alone, by name: what another program loads into a network of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.compress.description import description
from luthier.compress.network import Network
from luthier.compress.registry import Encoded, writes
from luthier.errors import ExportError

__all__ = ["encode"]


@writes("safetensors")
def encode(network: Network, *, pixels: bool) -> Encoded:
    """Parameters and buffers, as a checkpoint's weights have them: PyTorch's names for a shipped network."""
    from safetensors.numpy import load, save

    if pixels:
        raise ExportError("Weights alone take no pixels: only a graph can normalise", hint="Use --format onnx.")
    state = network.session.state()
    # Safetensors takes an array's memory as it lies, and so would write a transposed one wrongly.
    weights = {
        key.removeprefix("model/"): np.asarray(array, order="C")
        for key, array in state.items()
        if key.startswith("model/")
    }
    data = save(weights, metadata=description(network, layout="NCHW"))
    _require_the_same(network, load(data))
    return Encoded(data=data)


def _require_the_same(network: Network, weights: Mapping[str, NDArray[Any]]) -> None:
    """A network of other weights that has taken them from the file is this one, to the bit."""
    fresh = network.fresh(network.session.engine)
    try:
        fresh.load({f"model/{name}": array for name, array in weights.items()})
        own, taken = network.session.state(), fresh.state()
    finally:
        fresh.close()
    for key, array in own.items():
        if key.startswith("model/") and array.tobytes() != taken[key].tobytes():
            raise ExportError(f"The weights came back from the file otherwise than they went in: {key}")
