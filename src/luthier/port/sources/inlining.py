"""Parts of a forward pass that run under `torch.no_grad()` or without autocast, put back into the graph around them."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from luthier.errors import PortError

__all__ = ["inline_modes"]

GRAD, AUTOCAST = "wrap_with_set_grad_enabled", "wrap_with_autocast"


def inline_modes(module: fx.GraphModule) -> None:
    """Change the graph in place; what ran without gradients gives values that carry none."""
    for node in list(module.graph.nodes):
        name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
        if name == GRAD:
            enabled, part, *operands = node.args
            _inline(module, node, part, operands, detached=not enabled)
        elif name == AUTOCAST:
            if node.args[2]:
                raise PortError(
                    "A part of the forward pass computes in another dtype, by autocast",
                    hint="Port the network in float32, and let MindSpore mix precisions.",
                )
            _inline(module, node, node.args[4], list(node.args[5:]), detached=False)


def _inline(module: fx.GraphModule, node: fx.Node, part: Any, operands: list[Any], *, detached: bool) -> None:
    inner: Any = getattr(module, str(part.target))
    inline_modes(inner)
    known: dict[fx.Node, Any] = dict(
        zip((one for one in inner.graph.nodes if one.op == "placeholder"), operands, strict=True)
    )
    results: Any = ()
    with module.graph.inserting_before(node):
        for one in inner.graph.nodes:
            if one.op == "output":
                results = one.args[0]
            elif one.op != "placeholder":
                known[one] = module.graph.node_copy(one, known.__getitem__)
        given = [_result(module.graph, known[result], detached=detached) for result in results]
    for user in list(node.users):
        assert user.target is operator.getitem, user
        number: Any = user.args[1]
        user.replace_all_uses_with(given[number])
        module.graph.erase_node(user)
    module.graph.erase_node(node)


def _result(graph: fx.Graph, value: Any, *, detached: bool) -> Any:
    if not detached or not isinstance(value.meta.get("val"), torch.Tensor):
        return value
    found = graph.call_function(torch.ops.aten.detach.default, (value,))
    found.meta = dict(value.meta)
    return found
