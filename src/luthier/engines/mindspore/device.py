"""The device that a recipe names, or one sentence on why it is not there; and what a CPU lacks."""

from __future__ import annotations

import mindspore

from luthier.engines.launching import Launch
from luthier.errors import EngineError
from luthier.recipe import Recipe

__all__ = ["device_of", "require_parts"]

TARGETS = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "ascend": "Ascend"}


def device_of(name: str, launch: Launch | None = None) -> str:
    """Set it for the process, which MindSpore refuses once it has run anything.

    `auto` takes an accelerator's first, and with several ranks each rank's own.
    """
    launch = launch or Launch()
    if name == "auto":
        found = next((kind for kind in ("ascend", "gpu") if _is_there(TARGETS[kind])), "cpu")
        name = found if found == "cpu" else f"{found}:{launch.local_rank}"
    elif launch.ranks > 1 and name != "cpu":
        hint = "Set device=auto, and each rank takes its own, or device=cpu."
        raise EngineError(f"{launch.ranks} ranks cannot share one device", at=f"device {name}", hint=hint)
    kind, _, index = name.partition(":")
    if kind not in TARGETS:
        raise EngineError(f"MindSpore knows no device '{name}'", at="device", hint="Known: auto, cpu, gpu:N, ascend:N.")
    target = TARGETS[kind]
    if target != "CPU" and not _is_there(target):
        raise EngineError(
            f"MindSpore sees no {target} here", at=f"device {name}", hint="Set device=cpu, or device=auto."
        )
    if mindspore.get_context("device_target") != target or mindspore.get_context("device_id") != int(index or 0):
        _set(target, int(index or 0), name)
    return "cpu" if target == "CPU" else f"{target.lower()}:{index or 0}"


def _set(target: str, index: int, name: str) -> None:
    try:
        mindspore.set_device(target, index)
    except (RuntimeError, ValueError) as fault:
        said = str(fault).strip().splitlines()[0]
        raise EngineError(f"MindSpore cannot use {target} {index}: {said}", at=f"device {name}") from fault


def _is_there(target: str) -> bool:
    try:
        return bool(mindspore.hal.is_available(target))
    except (RuntimeError, ValueError):
        return False


def require_parts(recipe: Recipe, device: str) -> None:
    """Refuse what this engine or this device has not, by name, before anything is built."""
    strategy = recipe.strategy
    if strategy.precision == "bfloat16" and device == "cpu":
        raise EngineError(
            "MindSpore has no bfloat16 convolutions on a CPU",
            at="strategy.precision",
            hint="Set strategy.precision=float32 or float16, or engine=torch.",
        )
