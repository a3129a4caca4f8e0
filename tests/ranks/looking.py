"""Rank 0 asks for an activation of a network whose normalisations are joined: `python -m tests.ranks.looking MODE`."""

from __future__ import annotations

import sys

from luthier.engines import open_group, open_session
from luthier.recipe import Recipe, override
from luthier.testing import random_batches

__all__: list[str] = []

NETWORK = ("model.name=slim", "model.options={width = 0.25}", "strategy.sync_batch_norm=true")


def main(mode: str) -> None:
    recipe = override(Recipe(name="looking"), ["engine=mindspore", "device=cpu", f"mode={mode}", *NETWORK])
    group = open_group(recipe)
    session = open_session(recipe, shape=(32, 32, 3), num_classes=10, group=group)
    for batch in random_batches(4, size=8):
        session.step(batch, 0.01)
        found = session.probe(["activation/stage1.norm1"]) if group.rank == 0 else {}
    group.gather(b"")
    if group.rank == 0:
        print("seen:", *(f"{name} {statistics.count}" for name, statistics in found.items()))
    group.close()


if __name__ == "__main__":
    main(sys.argv[1])
