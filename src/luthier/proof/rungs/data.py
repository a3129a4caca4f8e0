"""The first batches through both pipelines, where there are any."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from luthier.proof.climb import Climb
from luthier.proof.evidence import digest
from luthier.proof.limits import judge
from luthier.proof.network import Array, leaves_of
from luthier.proof.traps import data_causes
from luthier.proof.verdict import Difference, Rung

__all__ = ["data"]

NAME = "data"
BATCHES = 3


def data(climb: Climb) -> Rung:
    """By the trainers' own batches; a recipe's go through one pipeline, and are the same arrays for both."""
    sources = [getattr(trainer, "batches", None) for trainer in climb.trainers]
    if not all(sources):
        one = next((side for side, source in zip(("reference", "candidate"), sources, strict=True) if source), None)
        if one:
            told = f"only the {one}'s trainer has batches()"
        elif climb.recipe is not None:
            told = "both sides read the recipe's batches through one pipeline"
        else:
            told = "no data were given"
        return Rung(name=NAME, status="not applicable", sentence=told)
    theirs, ours = ([_arrays(batch) for batch in islice(source(), BATCHES)] for source in sources if source)
    differences = _compared(climb, theirs, ours)
    return Rung(
        name=NAME,
        status="failed" if differences else "passed",
        sentence=differences[0].sentence if differences else f"{len(theirs)} batches agree, pixel by pixel",
        figures={"sha256": [[[digest(array) for array in batch] for batch in side] for side in (theirs, ours)]},
        differences=tuple(differences),
    )


def _arrays(batch: Any) -> list[Array]:
    """Whatever a pipeline gives: tensors of either framework, or arrays."""
    found = []
    for leaf in leaves_of(batch):
        value = leaf.asnumpy() if hasattr(leaf, "asnumpy") else leaf
        found.append(np.array(value.detach().numpy() if hasattr(value, "detach") else value))
    return found


def _compared(climb: Climb, theirs: list[list[Array]], ours: list[list[Array]]) -> list[Difference]:
    if len(theirs) != len(ours):
        told = f"The reference gives {len(theirs)} batches, the candidate {len(ours)}"
        return [climb.difference(NAME, "", "batches", sentence=told)]
    for number, (one, two) in enumerate(zip(theirs, ours, strict=True)):
        if len(one) != len(two):
            told = f"A batch has {len(one)} arrays in the reference, {len(two)} in the candidate"
            return [climb.difference(NAME, "", f"batch {number}", sentence=told)]
        for field, (reference, candidate) in enumerate(zip(one, two, strict=True)):
            what = f"array {field} of batch {number}"
            causes = data_causes(reference, candidate)
            if reference.shape != candidate.shape:
                told = f"{what} has the shape {reference.shape}, the candidate's {candidate.shape}"
                return [climb.difference(NAME, "", what, sentence=told, causes=causes)]
            judged = judge(candidate, reference, [], unit=climb.reference.unit)
            if judged.differs:
                told = f"{what} differs by up to {judged.error:.3g} where {judged.limit:.1g} is allowed"
                return [
                    climb.difference(
                        NAME, "", what, sentence=told, error=judged.error, limit=judged.limit, causes=causes
                    )
                ]
    return []
