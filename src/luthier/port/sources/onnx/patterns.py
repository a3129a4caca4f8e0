"""Nodes that exporters write for one thing, put together again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from luthier.port.connecting import leaves
from luthier.port.known import Known
from luthier.port.sources.onnx.flat import Node

__all__ = ["together"]

ROOT_HALF = 2**-0.5


def together(nodes: Sequence[Node], outputs: Sequence[Known]) -> list[Node]:
    """Dense layers, GELU, SiLU and layer normalisations that were written out."""
    found = _Graph(nodes, outputs)
    for node in list(nodes):
        if node.number not in found.gone:
            _dense(node, found)
            _gelu(node, found)
            _silu(node, found)
            _layer_norm(node, found)
            _group_norm(node, found)
            _relu6(node, found)
            _from_zeros(node, found)
            _joined_directions(node, found)
    return _needed([node for node in nodes if node.number not in found.gone], outputs)


def _needed(nodes: Sequence[Node], outputs: Sequence[Known]) -> list[Node]:
    """Without what nobody uses any more."""
    needed = set(outputs)
    kept: list[Node] = []
    for node in reversed(nodes):
        if needed & set(node.outputs):
            kept.append(node)
            needed |= set(leaves(node.arguments, Known))
    return kept[::-1]


class _Graph:
    """Who makes a value, and who alone uses it."""

    def __init__(self, nodes: Sequence[Node], outputs: Sequence[Known]) -> None:
        self.maker: dict[Known, Node] = {value: node for node in nodes for value in node.outputs}
        self.gone: set[int] = set()
        self.uses: Counter[Known] = Counter(outputs)
        self.users: dict[Known, list[Node]] = {}
        for node in nodes:
            for value in leaves(node.arguments, Known):
                self.uses[value] += 1
                self.users.setdefault(value, []).append(node)

    def made_by(self, value: Any, operator: str, *, once: bool = True) -> Node | None:
        """The node that makes it, if it is this operator and nobody else uses the value."""
        node = self.maker.get(value) if isinstance(value, Known) else None
        if node is None or node.operator != f"onnx.{operator}" or node.number in self.gone:
            return None
        return node if not once or self.uses[value] == 1 else None

    def replace(self, node: Node, operator: str, arguments: dict[str, Any], *parts: Node) -> None:
        """The node does it alone."""
        node.operator, node.arguments = f"onnx.{operator}", arguments
        self.gone |= {part.number for part in parts if part is not node}


def _operands(node: Node) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    a, b = node.arguments["A"], node.arguments["B"]
    return (a, b), (b, a)


def _number(value: Any) -> float | None:
    if isinstance(value, Known) and value.content is not None and value.content.size == 1:
        return float(value.content.reshape(-1)[0])
    return None


def _is(value: Any, wanted: float) -> bool:
    number = _number(value)
    return number is not None and abs(number - wanted) <= 1e-6 * max(1.0, abs(wanted))


def _dense(node: Node, graph: _Graph) -> None:
    """`x @ W + b`."""
    if node.operator != "onnx.Add":
        return
    for product, bias in _operands(node):
        made = graph.made_by(product, "MatMul")
        if made is None or not isinstance(bias, Known) or bias.content is None:
            continue
        weight = made.arguments["B"]
        if not isinstance(weight, Known) or weight.content is None or weight.rank != 2 or not weight.is_initialiser:
            continue
        if bias.shape == weight.shape[1:] and "C" not in made.arguments:
            graph.replace(node, "MatMul", {**made.arguments, "C": bias}, made)
            return


def _gelu(node: Node, graph: _Graph) -> None:
    """`0.5 · x · (1 + erf(x / √2))`, in either order of its factors."""
    if node.operator != "onnx.Mul":
        return
    for first, second in _operands(node):
        if _is(second, 0.5):
            inner = graph.made_by(first, "Mul")
            pairs = _operands(inner) if inner else ()
            for x, one_more in pairs:
                if inner and _one_plus_erf(one_more, x, graph, node, inner):
                    return
        half = graph.made_by(first, "Mul")
        if half and any(_is(b, 0.5) for _, b in _operands(half)):
            x = next(a for a, b in _operands(half) if _is(b, 0.5))
            if _one_plus_erf(second, x, graph, node, half):
                return
        if isinstance(first, Known) and (scaled := graph.made_by(second, "Mul")):
            for more, half_number in _operands(scaled):
                if _is(half_number, 0.5) and _one_plus_erf(more, first, graph, node, scaled):
                    return


def _one_plus_erf(value: Any, x: Any, graph: _Graph, node: Node, other: Node) -> bool:
    plus = graph.made_by(value, "Add")
    if plus is None:
        return False
    erf = next((graph.made_by(a, "Erf") for a, b in _operands(plus) if _is(b, 1.0)), None)
    if erf is None:
        return False
    inner = erf.arguments["input"]
    divided, product = graph.made_by(inner, "Div"), graph.made_by(inner, "Mul")
    scale = divided or product
    if scale is None:
        return False
    right = (
        divided.arguments["A"] is x and _is(divided.arguments["B"], 2**0.5)
        if divided
        else any(a is x and _is(b, ROOT_HALF) for a, b in _operands(scale))
    )
    if right:
        graph.replace(node, "Gelu", {"X": x, "approximate": "none", "since": 20}, other, plus, erf, scale)
    return right


def _silu(node: Node, graph: _Graph) -> None:
    """`x · σ(x)`."""
    if node.operator != "onnx.Mul":
        return
    for x, gate in _operands(node):
        sigmoid = graph.made_by(gate, "Sigmoid")
        if sigmoid is not None and sigmoid.arguments["X"] is x:
            graph.replace(node, "Silu", {"X": x, "since": 1}, sigmoid)
            return


def _layer_norm(node: Node, graph: _Graph) -> None:
    """`(x − mean) / √(var + ε) · γ + β`, as it was written before opset 17."""
    if node.operator != "onnx.Add":
        return
    for scaled, beta in _operands(node):
        product = graph.made_by(scaled, "Mul")
        if product is None or not isinstance(beta, Known) or beta.content is None:
            continue
        for normal, gamma in _operands(product):
            divided = graph.made_by(normal, "Div")
            if divided is None or not isinstance(gamma, Known) or gamma.content is None:
                continue
            found = _normalised(divided, graph)
            if found is None or gamma.rank != 1 or beta.shape != gamma.shape:
                continue
            x, epsilon, parts = found
            arguments = {"X": x, "Scale": gamma, "B": beta, "axis": -1, "epsilon": epsilon, "stash_type": 1}
            graph.replace(node, "LayerNormalization", {**arguments, "since": 17}, product, divided, *parts)
            return


def _normalised(divided: Node, graph: _Graph) -> tuple[Known, float, list[Node]] | None:
    centred = graph.made_by(divided.arguments["A"], "Sub", once=False)
    root = graph.made_by(divided.arguments["B"], "Sqrt")
    plus = graph.made_by(root.arguments["X"], "Add") if root else None
    if centred is None or root is None or plus is None:
        return None
    x = centred.arguments["A"]
    mean = graph.made_by(centred.arguments["B"], "ReduceMean")
    pair = next(((a, b) for a, b in _operands(plus) if _number(b) is not None), None)
    variance = graph.made_by(pair[0], "ReduceMean") if pair else None
    square = graph.made_by(variance.arguments["data"], "Pow") if variance else None
    if mean is None or pair is None or variance is None or square is None or mean.arguments["data"] is not x:
        return None
    difference = square.arguments["X"]
    again = graph.made_by(difference, "Sub", once=False)
    if not _is(square.arguments["Y"], 2.0) or again is None:
        return None
    if difference is not divided.arguments["A"] or graph.uses[difference] != 2:
        return None
    if not (_is_last(mean, x) and _is_last(variance, x)):
        return None
    epsilon = float(str(np.float32(_number(pair[1]) or 0.0)))
    return x, epsilon, [centred, root, plus, mean, variance, square]


def _is_last(mean: Node, x: Known) -> bool:
    axes = mean.arguments["axes"]
    if isinstance(axes, Known):
        axes = tuple(axes.content.reshape(-1).tolist()) if axes.content is not None else ()
    return bool(mean.arguments["keepdims"]) and axes in ((-1,), (x.rank - 1,))


def _group_norm(node: Node, graph: _Graph) -> None:
    """An instance normalisation over groups, with the channels' own factors behind it."""
    if node.operator != "onnx.Add":
        return
    for scaled, beta in _operands(node):
        product = graph.made_by(scaled, "Mul")
        for normal, gamma in _operands(product) if product else ():
            back = graph.made_by(normal, "Reshape")
            inner = graph.made_by(back.arguments["data"], "InstanceNormalization") if back else None
            grouped = graph.made_by(inner.arguments["input"], "Reshape") if inner else None
            if product is None or back is None or inner is None or grouped is None:
                continue
            x, channels = grouped.arguments["data"], [_per_channel(value) for value in (gamma, beta)]
            ones, zeros = inner.arguments["scale"], inner.arguments["B"]
            plain = all(isinstance(value, Known) and value.content is not None for value in (ones, zeros))
            if not plain or not (ones.content == 1).all() or zeros.content.any() or x.shape != back.outputs[0].shape:
                continue
            if any(value is None or value.shape != x.shape[1:2] for value in channels):
                continue
            arguments = {"X": x, "scale": channels[0], "bias": channels[1], "num_groups": ones.shape[0]}
            arguments |= {"epsilon": inner.arguments["epsilon"], "stash_type": 1, "since": 21}
            graph.replace(node, "GroupNormalization", arguments, product, back, inner, grouped)
            return


def _per_channel(value: Any) -> Known | None:
    """A factor for each channel, without the axes of length one that spread it."""
    if not isinstance(value, Known) or value.content is None or any(length != 1 for length in value.shape[1:]):
        return None
    flat = value.content.reshape(-1)
    return Known(name=value.name, shape=flat.shape, dtype=value.dtype, content=flat)


def _relu6(node: Node, graph: _Graph) -> None:
    """A clamp between 0 and 6."""
    if node.operator != "onnx.Clip":
        return
    ends = [node.arguments.get("min"), node.arguments.get("max")]
    numbers = [_number(end) if isinstance(end, Known) else end for end in ends]
    if numbers == [0, 6] and node.outputs[0].dtype == "float32":
        graph.replace(node, "Relu6", {"X": node.arguments["input"], "since": 1})


def _from_zeros(node: Node, graph: _Graph) -> None:
    """A recurrent layer that begins with zeros is one that is given no state."""
    for name in ("initial_h", "initial_c"):
        value = node.arguments.get(name)
        if node.operator in RECURRENT and isinstance(value, Known) and _is_zero(value, graph):
            node.arguments[name] = None


RECURRENT = ("onnx.LSTM", "onnx.GRU", "onnx.RNN")


def _is_zero(value: Known, graph: _Graph) -> bool:
    if value.content is not None:
        return not value.content.any()
    maker = graph.maker.get(value)
    if maker is None:
        return False
    if maker.operator == "onnx.ConstantOfShape":
        given = maker.arguments["value"]
        return given is None or not given.any()
    inner = maker.arguments.get("data", maker.arguments.get("input"))
    through = ("onnx.Slice", "onnx.Expand", "onnx.Unsqueeze", "onnx.Squeeze", "onnx.Reshape", "onnx.Concat")
    return maker.operator in through and isinstance(inner, Known) and _is_zero(inner, graph)


def _joined_directions(node: Node, graph: _Graph) -> None:
    """ONNX gives the directions an axis of their own, which exporters take away again behind the layer."""
    if node.operator == "onnx.Squeeze":
        layer = next((found for kind in RECURRENT if (found := graph.made_by(node.arguments["data"], kind[5:]))), None)
        if layer is not None and node.arguments["data"] is layer.outputs[0] and _axes(node) == (1,):
            _take_over(layer, node, graph, node)
    if node.operator == "onnx.Reshape":
        turned = graph.made_by(node.arguments["data"], "Transpose")
        if turned is None or turned.arguments["perm"] != (0, 2, 1, 3):
            return
        inner = turned.arguments["data"]
        layer = next((found for kind in RECURRENT if (found := graph.made_by(inner, kind[5:]))), None)
        wanted = (*turned.outputs[0].shape[:2], _product(turned.outputs[0].shape[2:]))
        if layer is not None and inner is layer.outputs[0] and node.outputs[0].shape == wanted:
            _take_over(layer, node, graph, turned, node)


def _axes(node: Node) -> tuple[int, ...] | None:
    axes = node.arguments["axes"]
    if isinstance(axes, Known):
        return tuple(axes.content.reshape(-1).tolist()) if axes.content is not None else None
    return axes if isinstance(axes, tuple) else None


def _product(lengths: Sequence[Any]) -> int:
    return int(np.prod([length for length in lengths if isinstance(length, int)]))


def _take_over(layer: Node, node: Node, graph: _Graph, *parts: Node) -> None:
    """The layer gives at once what was made of its output."""
    layer.outputs = (node.outputs[0], *layer.outputs[1:])
    layer.arguments = {**layer.arguments, "joined": True}
    graph.gone |= {part.number for part in parts}
    graph.maker[node.outputs[0]] = layer
