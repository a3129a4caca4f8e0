"""The graph that deployments run, written by PyTorch, or of a user's own Cell by MindSpore; checked in ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from luthier.compress.description import description
from luthier.compress.network import Network
from luthier.compress.registry import Encoded, writes
from luthier.recipe import to_toml

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["encode"]

MINDSPORES_OPSET = 11
OPSET = 17  # the latest that every runtime of the field has read for years, and the first with LayerNormalization


@writes("onnx")
def encode(network: Network, *, pixels: bool) -> Encoded:
    """A batch of any size; nothing is given out that answers otherwise than the network does."""
    from luthier.compress.checking import answers_of, max_error, on_onnx_runtime

    own_cell = network.session.engine == "mindspore" and network.is_own
    model = _by_mindspore(network, pixels=pixels) if own_cell else _by_pytorch(network, pixels=pixels)
    told = description(network, layout="NHWC" if pixels else "NCHW")
    for key, value in (told | {"recipe": to_toml(replace(network.recipe, space={}))}).items():
        model.metadata_props.add(key=key, value=value)
    data = model.SerializeToString(deterministic=True)
    error = max_error(on_onnx_runtime(data), answers_of(network, pixels=pixels), network, pixels=pixels)
    return Encoded(data=data, opset=MINDSPORES_OPSET if own_cell else OPSET, max_error=error)


def _by_pytorch(network: Network, *, pixels: bool) -> ModelProto:
    from luthier.compress.tracing import deployable, traced

    model = traced(deployable(network, pixels=pixels), network.shape, pixels=pixels, opset=OPSET)
    _pad_explicitly(model)
    return model


def _by_mindspore(network: Network, *, pixels: bool) -> ModelProto:
    """MindSpore writes a graph for one number of images."""
    import onnx

    from luthier.compress.any_batch import for_any_batch
    from luthier.compress.cells import TRACED, onnx_of
    from luthier.compress.tracing import INPUT, OUTPUT

    model = onnx.load_from_string(onnx_of(network, pixels=pixels, names=(INPUT, OUTPUT)))
    for_any_batch(model, TRACED)
    return model


def _pad_explicitly(model: ModelProto) -> None:
    """ONNX Runtime refuses `auto_pad` on a dilated convolution, which PyTorch writes for padding='same'."""
    from onnx.helper import get_node_attr_value, make_attribute

    for node in model.graph.node:
        given = {attribute.name: attribute for attribute in node.attribute}
        if "auto_pad" not in given or get_node_attr_value(node, "auto_pad") != b"SAME_UPPER":
            continue
        kernel, dilations = (get_node_attr_value(node, name) for name in ("kernel_shape", "dilations"))
        totals = [dilation * (size - 1) for size, dilation in zip(kernel, dilations, strict=True)]
        begins = [total // 2 for total in totals]
        node.attribute.remove(given["auto_pad"])
        ends = [total - begin for total, begin in zip(totals, begins, strict=True)]
        node.attribute.append(make_attribute("pads", begins + ends))
