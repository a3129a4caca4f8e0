"""MindSpore's checkpoint: the weights alone, by MindSpore's names."""

from __future__ import annotations

from luthier.compress.network import Network
from luthier.compress.registry import Encoded, writes
from luthier.errors import ExportError

__all__ = ["encode"]


@writes("ckpt")
def encode(network: Network, *, pixels: bool) -> Encoded:
    """Parameters and moving statistics, for `load_param_into_net` into a Cell of the same network."""
    if pixels:
        raise ExportError("Weights alone take no pixels: only a graph can normalise", hint="Use --format mindir.")
    fresh = network.fresh("mindspore")
    from luthier.compress.cells import checkpoint_of
    from luthier.compress.checking import answers_of, max_error

    try:
        data = checkpoint_of(network, fresh)
        error = max_error(fresh.logits, answers_of(network, pixels=True), network, pixels=True)
    finally:
        fresh.close()
    return Encoded(data=data, max_error=error)
