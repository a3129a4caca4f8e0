"""Steps of a session, alone or as one of several ranks: `python -m tests.ranks.stepping OUT CASE…`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from luthier.data import Batch
from luthier.engines import Alone, Arrays, Group, open_group, open_session
from luthier.recipe import Recipe, override
from luthier.testing import random_batches

__all__ = ["CASES", "stepped"]

STEPS, JOINT, RATE = 3, 16, 0.02
NARROW = "model.options={width = 0.125}"
CASES = {
    "lenet5": (),
    "lenet5-compiled": ("mode=graph",),
    "lenet5-split": ("mode=graph", "strategy.allreduce_split=[1, 4]"),
    "lenet5-everything": (
        *("strategy.accumulate=2", "strategy.clip_norm=0.5", "strategy.average_decay=0.9"),
        *("strategy.optimizer=adamw", "strategy.optimizer.weight_decay=0.1", "strategy.label_smoothing=0.1"),
    ),
    "slim": ("model.name=slim", "strategy.sync_batch_norm=true", "strategy.average_decay=0.9"),
    "slim-compiled": ("model.name=slim", "strategy.sync_batch_norm=true", "mode=graph"),
    "slim-apart": ("model.name=slim",),
    "resnet18": ("model.name=resnet18", NARROW, "strategy.sync_batch_norm=true"),
    "resnet18-compiled": ("model.name=resnet18", NARROW, "strategy.sync_batch_norm=true", "mode=graph"),
}


def recipe_of(engine: str, case: str) -> Recipe:
    return override(Recipe(name=case), [f"engine={engine}", "device=cpu", *CASES[case]])


def stepped(engine: str, case: str, group: Group | None = None, *, backwards: bool = False) -> Arrays:
    """The state after a few steps, each on a rank's share of the same joint batches."""
    group = group or Alone()
    session = open_session(recipe_of(engine, case), shape=(32, 32, 3), num_classes=10, group=group)
    losses = []
    for batch in random_batches(STEPS, size=JOINT):
        own = slice(None, None, -1) if backwards else slice(group.rank, None, group.ranks)
        share = Batch(images=np.ascontiguousarray(batch.images[own]), labels=np.ascontiguousarray(batch.labels[own]))
        losses.append(float(session.step(share, RATE)))
    state = session.state()
    session.close()
    return state | {"losses": np.array(losses)}


def main(arguments: Sequence[str]) -> None:
    engine, out, *cases = arguments
    group = open_group(recipe_of(engine, cases[0]))
    for case in cases:
        state = stepped(engine, case, group)
        np.savez(Path(out) / f"{case}-{group.rank}.npz", **state)
    group.gather(b"")
    group.close()


if __name__ == "__main__":
    main(sys.argv[1:])
