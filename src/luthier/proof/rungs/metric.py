"""The same predictions on a data set, where a recipe names one."""

from __future__ import annotations

import numpy as np

from luthier.proof.climb import Climb
from luthier.proof.recipes import evaluation_batches
from luthier.proof.verdict import Rung

__all__ = ["metric"]

NAME = "metric"


def metric(climb: Climb) -> Rung:
    """Top-1 of both sides; an image on which they part must lie on the edge between two classes."""
    if climb.recipe is None:
        return Rung(name=NAME, status="not applicable", sentence="no data set was given: a recipe names one")
    right = [0, 0]
    parted = edges = total = 0
    for images, labels in evaluation_batches(climb.recipe, climb.data_root):
        theirs, ours = climb.reference.outputs([images])[0], climb.candidate.outputs([images])[0]
        first, second = theirs.argmax(1), ours.argmax(1)
        right[0] += int((first == labels).sum())
        right[1] += int((second == labels).sum())
        apart = np.flatnonzero(first != second)
        ordered = np.sort(theirs, axis=1)
        margin = ordered[:, -1] - ordered[:, -2]
        edge = margin[apart] <= 1e-4 * np.abs(theirs).max()
        parted += len(apart)
        edges += int(edge.sum())
        total += len(labels)
    figures = {"images": total, "top1": [100 * count / total for count in right], "parted": parted, "on_an_edge": edges}
    top = " and ".join(f"{100 * count / total:.2f} %" for count in right)
    told = f"{top} of {total} images right, {parted} taken for another class"
    failed = parted > edges
    differences = (climb.difference(NAME, "", "predictions", sentence=told),) if failed else ()
    return Rung(
        name=NAME, status="failed" if failed else "passed", sentence=told, figures=figures, differences=differences
    )
