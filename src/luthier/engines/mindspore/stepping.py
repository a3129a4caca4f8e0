"""One of the engine's optimizers over any Cell, fed with gradients from wherever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from luthier.recipe import Optimizer

if TYPE_CHECKING:
    from mindspore import nn

__all__ = ["updater"]

Update = Callable[[Sequence[Any], float], None]


def updater(record: Optimizer, cell: nn.Cell, names: Mapping[str, str]) -> Update:
    """A function that takes the gradients of `cell.trainable_params()`, in their order, and a learning rate.

    `names` gives a parameter the name by which the recipe's groups know it, where that is not its own.
    """
    from dataclasses import replace

    from luthier.engines.mindspore.optimizers import build_update, rates_at
    from luthier.engines.mindspore.parameters import Named, parameter_infos
    from luthier.strategy import groups

    named = Named(cell, shipped=False)
    known = {name: names.get(name, name) for name in named.names}
    infos = [replace(info, name=known[info.name]) for info in parameter_infos(named)]
    parameters = cell.trainable_params()
    update = build_update(record, groups(record, infos), parameters, known)
    taken = 0

    def step(gradients: Sequence[Any], learning_rate: float) -> None:
        nonlocal taken
        taken += 1
        update(tuple(gradients), rates_at(record, learning_rate, taken))

    return step
