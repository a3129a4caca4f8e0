"""Attention, recurrent networks and embeddings."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []


@trap(
    "attention-scale",
    functional.scaled_dot_product_attention,
    hint="Divide the scores by the square root of a head's width, once.",
    values=("none", "width"),
)
def another_scale(call: FunctionCall, value: str) -> Any:
    """The candidate's attention scales its scores otherwise."""
    width = int(call["query"].shape[-1])
    return call.again(scale=1.0 if value == "none" else 1.0 / width)


@trap(
    "attention-mask",
    functional.scaled_dot_product_attention,
    hint="A Boolean mask is True where PyTorch attends; many MindSpore functions mean the opposite.",
    values=("none", "inverted", "causal"),
)
def another_mask(call: FunctionCall, value: str) -> Any:
    """The candidate masks other positions."""
    mask = call["attn_mask"]
    if value == "none" and (mask is not None or call["is_causal"]):
        return call.again(attn_mask=None, is_causal=False)
    if value == "causal" and not call["is_causal"]:
        return call.again(attn_mask=None, is_causal=True)
    if value == "inverted" and isinstance(mask, Tensor) and mask.dtype == torch.bool:
        return call.again(attn_mask=~mask)
    return NotImplemented


def gates(params: list[Tensor], order: tuple[int, ...]) -> list[Tensor]:
    """Every weight and bias with its gates in another order."""
    return [torch.cat([param.chunk(len(order))[gate] for gate in order]) for param in params]


@trap(
    "gate-order",
    torch.lstm,
    hint="PyTorch and nn.LSTM have i, f, g, o; ONNX i, o, f, c; Keras i, f, c, o: reorder in the weight map.",
    values=[order for order in permutations(range(4)) if order != (0, 1, 2, 3)],
)
def lstm_gates(call: FunctionCall, value: tuple[int, ...]) -> Any:
    """The candidate's LSTM has its gates in another order."""
    if not isinstance(call["params"], list | tuple):
        return NotImplemented
    return call.again(params=gates(list(call["params"]), value))


@trap(
    "gate-order",
    torch.gru,
    hint="PyTorch and nn.GRU of MindSpore have r, z, n; ONNX z, r, h: reorder in the weight map.",
    values=[order for order in permutations(range(3)) if order != (0, 1, 2)],
)
def gru_gates(call: FunctionCall, value: tuple[int, ...]) -> Any:
    """The candidate's GRU has its gates in another order."""
    if not isinstance(call["params"], list | tuple):
        return NotImplemented
    return call.again(params=gates(list(call["params"]), value))


@trap(
    "reset-after",
    torch.lstm,
    torch.gru,
    hint="Both biases are added: MindSpore's CPU kernel sums b_ih and b_hh, and so does PyTorch.",
)
def without_the_second_bias(call: FunctionCall) -> Any:
    """The candidate leaves out one of the two biases."""
    params = call["params"]
    if not call["has_biases"] or not isinstance(params, list | tuple):
        return NotImplemented
    kept = [param * 0 if param.ndim == 1 and i % 4 == 3 else param for i, param in enumerate(params)]
    return call.again(params=kept)


@trap(
    "batch-first",
    torch.lstm,
    torch.gru,
    hint="Write batch_first as the reference has it.",
)
def time_first(call: FunctionCall) -> Any:
    """The candidate takes the batch for the time."""
    x = call["input"]
    if not isinstance(call["params"], list | tuple) or x.ndim != 3:
        return NotImplemented
    hx = call["hx"]
    states = [
        state[:, :1].expand(-1, x.shape[0 if not call["batch_first"] else 1], -1).contiguous()
        for state in (hx if isinstance(hx, list | tuple) else [hx])
    ]
    return call.again(
        batch_first=not call["batch_first"], hx=tuple(states) if isinstance(hx, list | tuple) else states[0]
    )


@trap(
    "padding-index",
    functional.embedding,
    hint="Keep the padding's row, and check the range of the indices: some back ends give zeros for one that is out.",
)
def zero_row(call: FunctionCall) -> Any:
    """The candidate's embedding gives zeros for the padding's index."""
    found = call.again()
    index = call["padding_idx"] if call["padding_idx"] is not None else 0
    return found * (call["input"] != index).unsqueeze(-1).to(found.dtype)
