"""What a PyTorch module has besides operators: hooks, parametrisations, and choices by the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import nn

from luthier.port.findings import Outcome
from luthier.port.graph import Step
from luthier.port.sources.exporting import CHOICE
from luthier.port.sources.parts import Part

__all__ = ["choices", "hooks"]

FORWARD = ("_forward_hooks", "_forward_pre_hooks")
BACKWARD = ("_backward_hooks", "_backward_pre_hooks")
OF_TENSORS = ("_backward_hooks", "_post_accumulate_grad_hooks")


def hooks(module: nn.Module) -> Iterator[tuple[str, Outcome, str]]:
    """Those of the forward pass are in the graph; those of gradients are called by PyTorch alone."""
    named = list(module.named_modules())
    forward = [path for path, part in named if _has(part, FORWARD)]
    backward = [path for path, part in named if _has(part, BACKWARD)]
    backward += [name for name, tensor in module.named_parameters() if _has(tensor, OF_TENSORS)]
    parametrised = [path for path, part in named if hasattr(part, "parametrizations")]
    if forward:
        yield "hooks", "composed", f"what they do in the forward pass of {_listed(forward)} is written out"
    if backward:
        yield (
            "backward hooks",
            "refused",
            f"those on {_listed(backward)} are not carried over: change the gradients there",
        )
    if parametrised:
        told = f"the weights of {_listed(parametrised)}, computed at every call: call remove_parametrizations on them"
        yield "parametrisations", "refused", told


def choices(parts: Sequence[Part]) -> Iterator[tuple[str, Outcome, str]]:
    """The modules whose forward pass has no fixed graph."""
    steps = [step for part in parts for step in part.scope.steps if isinstance(step, Step)]
    paths = [step.path for step in steps if step.refusal is not None and step.arguments["reason"] == CHOICE]
    if paths:
        yield "data-dependent control flow", "refused", f"in the forward pass of {_listed(paths)}"


def _has(owner: object, names: Sequence[str]) -> bool:
    return any(getattr(owner, name, None) for name in names)


def _listed(paths: Sequence[str]) -> str:
    """The first three by name."""
    shown = ", ".join(path or "the network" for path in paths[:3])
    return shown if len(paths) < 4 else f"{shown} and {len(paths) - 3} more"
