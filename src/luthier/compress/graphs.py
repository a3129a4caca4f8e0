"""What an ONNX graph stores, and which layer each of its nodes comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

__all__ = ["Stored", "described", "layer_of", "stored_bytes", "stored_layers"]

ROLES = {"Conv": ("weight", "bias"), "ConvTranspose": ("weight", "bias"), "Gemm": ("weight", "bias")}
RESTORES = ("Cast", "DequantizeLinear")  # what makes float32 of a weight that is stored otherwise


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The weights of one node, without the scales that they are stored with."""

    layer: str
    kind: str
    shapes: dict[str, tuple[int, ...]]
    count: int


def stored_bytes(model: ModelProto) -> dict[str, int]:
    """By type, quantisation's scales and zero points included; whole numbers of 64 bits are shapes and indices."""
    from onnx.numpy_helper import to_array

    counted: Counter[str] = Counter()
    for tensor in _tensors(model):
        array = to_array(tensor)
        if array.dtype.name != "int64":
            counted[array.dtype.name] += array.nbytes
    return dict(counted)


def stored_layers(model: ModelProto) -> tuple[Stored, ...]:
    """In the graph's order; a weight that several nodes share counts where it is first."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in _tensors(model) if tensor.dims and not _is_shape(tensor)}
    for node in model.graph.node:
        if node.op_type in RESTORES and node.input[0] in shapes:
            shapes[node.output[0]] = shapes.pop(node.input[0])
    layers = []
    for node in model.graph.node:
        own = {}
        for position, name in enumerate(node.input):
            if node.op_type not in (*RESTORES, "QuantizeLinear") and name in shapes:
                roles = ROLES.get(node.op_type, ())
                own[roles[position - 1] if 0 < position <= len(roles) else name] = shapes.pop(name)
        if own:
            count = sum(_elements(shape) for shape in own.values())
            layers.append(Stored(layer=layer_of(node), kind=node.op_type, shapes=own, count=count))
    return tuple(layers)


def described(data: bytes, told: Mapping[str, str]) -> bytes:
    """The same graph, which says this of itself besides."""
    import onnx

    model = onnx.load_from_string(data)
    known = {item.key: item.value for item in model.metadata_props} | dict(told)
    del model.metadata_props[:]
    for key, value in known.items():
        model.metadata_props.add(key=key, value=value)
    return bytes(model.SerializeToString(deterministic=True))


def layer_of(node: NodeProto) -> str:
    """`/layer1/layer1.0/conv1/Conv` is layer1.0.conv1; what stands in no layer keeps the node's own name."""
    path: list[str] = []
    for part in node.name.strip("/").split("/")[:-1]:
        if path and part.startswith(f"{path[-1]}."):
            path[-1] = part
        else:
            path.append(part)
    if path and path[0] == "network":  # which stands behind the normalisation of pixels
        path = path[1:]
    return ".".join(path) or node.name.strip("/")


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Initializers, and what Constant nodes hold, under their outputs' names."""
    yield from model.graph.initializer
    for node in model.graph.node:
        if node.op_type == "Constant":
            for attribute in node.attribute:
                if attribute.name == "value":
                    attribute.t.name = node.output[0]
                    yield attribute.t


def _is_shape(tensor: TensorProto) -> bool:
    return bool(tensor.data_type == tensor.INT64)


def _elements(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
