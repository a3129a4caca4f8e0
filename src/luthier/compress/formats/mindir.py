"""MindSpore's own graph, for its runtime and for MindSpore Lite."""

from __future__ import annotations

from luthier.compress.description import description
from luthier.compress.network import Network
from luthier.compress.registry import Encoded, writes

__all__ = ["encode"]


@writes("mindir")
def encode(network: Network, *, pixels: bool) -> Encoded:
    """A batch of any size; what the file says of itself is in its `user_info`."""
    network.on("mindspore")  # refuses what has no Cell
    from luthier.compress.cells import loaded_graph, mindir_of
    from luthier.compress.checking import answers_of, max_error

    told = description(network, layout="NHWC" if pixels else "NCHW")
    data = mindir_of(network, pixels=pixels, told=told)
    answers = answers_of(network, pixels=pixels)
    return Encoded(data=data, max_error=max_error(loaded_graph(data), answers, network, pixels=pixels))
