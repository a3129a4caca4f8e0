"""What a file says of itself: without these no one can feed the network rightly or read its answers."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Literal

from luthier.compress.network import Network

__all__ = ["description"]


def description(network: Network, *, layout: Literal["NCHW", "NHWC"]) -> dict[str, str]:
    """Texts by name, lists as JSON; `layout` is the input's, NHWC for raw pixels."""
    normalize = network.recipe.data.normalize
    pixels = layout == "NHWC"
    step = {} if network.step is None else {"step": str(network.step)}
    return step | {
        "classes": json.dumps(network.classes, ensure_ascii=False),
        "input": "pixels from 0 to 255" if pixels else "(pixels / 255 - mean) / std, by channel",
        "layout": layout,
        "mean": json.dumps(normalize.mean),
        "std": json.dumps(normalize.std),
        "name": network.name,
        "network": network.recipe.model.name,
        "producer": f"luthier {version('luthier')}",
    }
