"""Normalisations: epsilon, momentum, whose statistics, and what is divided by what."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from luthier.proof.torch.calm import FunctionCall
from luthier.proof.traps.registry import trap

__all__: list[str] = []

NORMS = (functional.batch_norm, functional.group_norm, functional.layer_norm, functional.instance_norm)
EPSILONS = (1e-7, 1e-5, 1e-3, 1e-6, 1e-12, 1e-8, 1e-2, 1e-4, 0.0)


@trap(
    "epsilon",
    *NORMS,
    functional.rms_norm,
    hint="Write the reference's epsilon out: nn.LayerNorm of MindSpore has 1e-7, PyTorch 1e-5.",
    values=EPSILONS,
)
def another_epsilon(call: FunctionCall, value: float) -> Any:
    """The candidate normalises with another epsilon."""
    return NotImplemented if call["eps"] == value else call.again(eps=value)


@trap(
    "momentum",
    functional.batch_norm,
    functional.instance_norm,
    hint="MindSpore's momentum weighs the old statistic, PyTorch's the new one: write 1 − m.",
)
def the_other_weight(call: FunctionCall) -> Any:
    """The candidate's statistics move by 1 − m of the reference's momentum m."""
    return call.again(momentum=1.0 - call["momentum"])


@trap(
    "momentum",
    functional.batch_norm,
    hint="Write momentum=1 − m of the reference's m.",
    values=(0.0, 0.01, 0.001, 0.05, 0.1, 0.2, 0.5, 0.9, 0.99, 1.0, "cumulative"),
)
def another_momentum(call: FunctionCall, value: Any) -> Any:
    """The candidate's statistics move at another pace."""
    return call.again(momentum=0.1 if value == "cumulative" else value)


@trap(
    "biased-variance",
    functional.batch_norm,
    hint="The running variance takes n/(n − 1) of the batch's variance in both frameworks.",
)
def biased_running_variance(call: FunctionCall) -> Any:
    """The candidate's running variance takes the biased variance of the batch."""
    if not call["training"]:
        return NotImplemented
    x, variance = call["input"], call["running_var"]
    axes = [axis for axis in range(x.ndim) if axis != 1]
    before = variance.clone()
    result = call.again()
    with torch.no_grad():
        variance.copy_(before + call["momentum"] * (x.var(axes, unbiased=False) - before))
    return result


@trap(
    "statistics-in-use",
    functional.batch_norm,
    hint="Leave use_batch_statistics=None, and call set_train(True) for training and set_train(False) for evaluation.",
)
def the_other_mode(call: FunctionCall) -> Any:
    """The candidate normalises by the running statistics where the reference takes the batch's, or the other way."""
    if call["running_mean"] is None:
        return NotImplemented
    return call.again(training=not call["training"])


@trap(
    "twice-updated",
    functional.batch_norm,
    hint="The forward pass runs twice: call set_grad() before it, or take value_and_grad alone.",
)
def updated_twice(call: FunctionCall) -> Any:
    """The candidate's statistics move twice in one pass."""
    if not call["training"]:
        return NotImplemented
    call.again(input=call["input"].detach())
    return call.again()


@trap(
    "affine",
    functional.batch_norm,
    functional.instance_norm,
    functional.layer_norm,
    functional.group_norm,
    hint="Write affine, or the constant gamma and beta, as the reference has them.",
)
def not_scaled(call: FunctionCall) -> Any:
    """The candidate neither scales nor shifts after it normalises."""
    if call["weight"] is None:
        return NotImplemented
    return call.again(weight=None, bias=None)


@trap(
    "normalised-axes",
    functional.layer_norm,
    hint="Write normalized_shape, begin_norm_axis and begin_params_axis for the reference's axes.",
)
def over_more_axes(call: FunctionCall) -> Any:
    """The candidate normalises over one axis more."""
    x, count = call["input"], len(call["normalized_shape"]) + 1
    if count >= x.ndim:
        return NotImplemented
    result = functional.layer_norm(x, tuple(x.shape[-count:]), None, None, call["eps"])
    result = result if call["weight"] is None else result * call["weight"]
    return result if call["bias"] is None else result + call["bias"]


@trap("groups", functional.group_norm, hint="Write num_groups as the reference has it.", values=(1, 2, 4, 8, 16, 32))
def other_groups(call: FunctionCall, value: int) -> Any:
    """The candidate normalises over another number of groups."""
    channels = int(call["input"].shape[1])
    return NotImplemented if channels % value else call.again(num_groups=value)


@trap(
    "local-response",
    functional.local_response_norm,
    hint="PyTorch divides alpha by the size, and the size is 2·depth_radius + 1: pass alpha/size and (size − 1)/2.",
)
def undivided_alpha(call: FunctionCall) -> Any:
    """The candidate does not divide alpha by the window's size."""
    return call.again(alpha=call["alpha"] * call["size"])


@trap(
    "local-response", functional.local_response_norm, hint="Write alpha, beta and bias out: MindSpore's are 1, 0.5, 1."
)
def default_local_response(call: FunctionCall) -> Any:
    """The candidate's local response norm has MindSpore's defaults."""
    return call.again(alpha=1.0 * call["size"], beta=0.5, k=1.0, size=11)


@trap(
    "ddof",
    torch.std,
    torch.var,
    torch.Tensor.std,
    torch.Tensor.var,
    hint="Write ddof=1: ops.std and ops.var of MindSpore divide by n, PyTorch by n − 1.",
)
def divided_by_n(call: FunctionCall) -> Any:
    """The candidate's deviation divides by n where the reference divides by n − 1, or the other way round."""
    arguments = dict(call.arguments)
    own = 1 if arguments.pop("unbiased", True) else 0
    own = arguments.pop("correction", own)
    x = arguments.pop("input", arguments.pop("self", arguments.pop("0", None)))
    axis = arguments.pop("dim", arguments.pop("axis", arguments.pop("1", None)))
    keep = bool(arguments.pop("keepdim", False))
    deviation = call.function in (torch.std, torch.Tensor.std)
    taken = torch.std if deviation else torch.var
    return taken(x, dim=axis, correction=1 - own, keepdim=keep)
