"""A smaller network from a trained one: the channels that matter least are cut out of every layer that has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.compress.channels import Channels, Plan, Width, plan
from luthier.errors import ExportError
from luthier.recipe import Compress, Model

__all__ = ["chosen_channels", "pruned"]

Arrays = Mapping[str, NDArray[Any]]


def pruned(model: Model, arrays: Arrays, config: Compress) -> tuple[Model, dict[str, NDArray[Any]]]:
    """The network with fewer channels as a recipe's `model`, and its weights: whole channels of the larger one's."""
    found = plan(model, {name: tuple(array.shape) for name, array in arrays.items()})
    sizes = [_kept(width, config.prune) for width in found.widths]
    if sizes == [width.size for width in found.widths]:
        raise ExportError(
            f"A share of {config.prune:g} takes no channel away from any layer of {model.name}", at="compress.prune"
        )
    cut = dict(arrays)
    for channels, chosen in chosen_channels(found, arrays, config):
        for slot in channels.slots:
            values = (chosen[:, None] * slot.repeats + np.arange(slot.repeats)).reshape(-1)
            cut[slot.name] = np.take(cut[slot.name], values, axis=slot.axis)
    return found.described(sizes), {name: np.array(array, order="C") for name, array in cut.items()}


def chosen_channels(found: Plan, arrays: Arrays, config: Compress) -> list[tuple[Channels, NDArray[np.int64]]]:
    """Those that stay, in their order, for every set of coupled channels."""
    choices = []
    for width in found.widths:
        size = _kept(width, config.prune)
        for channels in width.channels:
            order = np.argsort(-_importance(channels, arrays, by=config.prune_by), kind="stable")
            choices.append((channels, np.sort(order[: size // channels.share])))
    return choices


def _kept(width: Width, share: float) -> int:
    steps = round(width.size * (1 - share) / width.multiple)
    return max(1, steps) * width.multiple


def _importance(channels: Channels, arrays: Arrays, *, by: str) -> NDArray[np.float64]:
    """Of each channel beside the others: by the scale of its normalisation, or by the sum of its filter's weights.

    Where several layers give to the same channels, each has the same say.
    """
    given = [slot.name for slot in channels.slots if slot.axis == 0]
    scales = [name for name in given if f"{name.removesuffix('weight')}running_var" in arrays]
    filters = [name for name in given if arrays[name].ndim > 1]
    names = scales if by == "scale" and scales else filters
    total = np.zeros(len(arrays[names[0]]), np.float64)
    for name in names:
        sums = np.abs(arrays[name].astype(np.float64)).reshape(len(total), -1).sum(axis=1)
        total += sums / max(float(sums.mean()), 1e-30)
    return total
