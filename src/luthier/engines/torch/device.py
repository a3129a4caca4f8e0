"""The device that a recipe names, or one sentence on why it is not there."""

from __future__ import annotations

import torch

from luthier.engines.launching import Launch
from luthier.errors import EngineError

__all__ = ["device_of"]

EACH_ITS_OWN = "Set device=auto, and each rank takes its own, or device=cpu."


def device_of(name: str, launch: Launch | None = None) -> torch.device:
    """`auto` is the first CUDA device where there is one, and with several ranks each rank's own."""
    cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    launch = launch or Launch()
    if name == "auto":
        name = f"cuda:{launch.local_rank}" if cuda else "cpu"
    elif launch.ranks > 1 and name != "cpu":
        raise EngineError(f"{launch.ranks} ranks cannot share one device", at=f"device {name}", hint=EACH_ITS_OWN)
    if name == "cpu":
        return torch.device("cpu")
    kind, _, index = name.partition(":")
    if kind == "ascend":
        raise EngineError(
            "PyTorch has no Ascend device here", at=f"device {name}", hint="Set engine=mindspore, or device=auto."
        )
    if int(index) >= cuda:
        found = f"{cuda} CUDA device{'s' if cuda != 1 else ''}" if cuda else "no CUDA device"
        raise EngineError(f"PyTorch sees {found} here", at=f"device {name}", hint="Set device=cpu, or device=auto.")
    return torch.device("cuda", int(index))
