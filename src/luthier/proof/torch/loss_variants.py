"""The reference's loss with a trap built in: what it would be then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall, Variant

__all__ = ["LOSS_VARIANTS"]

Change = Callable[[FunctionCall], Any]


def label_smoothing(call: FunctionCall) -> Any:
    """None at all."""
    return call.again(label_smoothing=0.0)


def smoothing_over(call: FunctionCall) -> Any:
    """Over the wrong classes alone."""
    classes = int(call["input"].shape[1])
    return call.again(label_smoothing=call["label_smoothing"] * classes / (classes - 1))


def class_weights(call: FunctionCall) -> Any:
    """None."""
    return NotImplemented if call["weight"] is None else call.again(weight=None)


def ignore_index(call: FunctionCall) -> Any:
    """Count what is ignored, wherever that is a class."""
    return NotImplemented if call["ignore_index"] < 0 else call.again(ignore_index=-100)


def softmax_twice(call: FunctionCall) -> Any:
    """The logits are probabilities already."""
    return call.again(input=functional.softmax(call["input"], dim=1))


def smooth_l1_beta(call: FunctionCall) -> Any:
    """1 where it is another, as MindSpore's default."""
    return NotImplemented if call["beta"] == 1.0 else call.again(beta=1.0)


def mean_over_batch(call: FunctionCall) -> Any:
    """Over everything."""
    if call["reduction"] != "batchmean":
        return NotImplemented
    summed: Tensor = call.again(reduction="sum")
    return summed / call["input"].numel()


CROSS = functional.cross_entropy
LOSS_VARIANTS: Mapping[str, Callable[[], Variant]] = {
    "label-smoothing": lambda: Variant({CROSS: label_smoothing}),
    "smoothing-over": lambda: Variant({CROSS: smoothing_over}),
    "class-weights": lambda: Variant({CROSS: class_weights, functional.nll_loss: class_weights}),
    "ignore-index": lambda: Variant({CROSS: ignore_index, functional.nll_loss: ignore_index}),
    "softmax-twice": lambda: Variant({CROSS: softmax_twice}),
    "smooth-l1-beta": lambda: Variant({functional.smooth_l1_loss: smooth_l1_beta}),
    "mean-over-batch": lambda: Variant({functional.kl_div: mean_over_batch}),
}
