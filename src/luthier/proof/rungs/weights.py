"""Every weight is the reference's to the bit, through the map."""

from __future__ import annotations

import numpy as np

from luthier.proof.climb import Climb
from luthier.proof.evidence import digest
from luthier.proof.limits import judge
from luthier.proof.traps import weight_causes
from luthier.proof.verdict import Rung

__all__ = ["weights"]

NAME = "weights"


def weights(climb: Climb) -> Rung:
    """The reference's are copied in first, unless the candidate's own are to be judged."""
    theirs = climb.reference.arrays()
    wanted = climb.to_target(theirs)
    if climb.copy_weights:
        climb.candidate.load(wanted)
    ours = climb.candidate.arrays()
    names = climb.weight_map.inverted_names() if climb.weight_map else {}
    found, digests = [], {}
    for target, array in wanted.items():
        own = ours[target]
        digests[names[target]] = digest(theirs[names[target]])
        if own.shape == array.shape and np.array_equal(own, array.astype(own.dtype)):
            continue
        judged = judge(own, array, [], unit=climb.reference.unit)
        source = names[target]
        found.append(
            climb.difference(
                NAME,
                climb.reference_facts[source].owner,
                source,
                error=judged.error,
                limit=0.0,
                sentence=f"'{target}' is not the reference's '{source}', by up to {judged.error:.3g}",
                causes=weight_causes(array, own, source, wanted, ours),
            )
        )
    how = "copied from the reference, and read back" if climb.copy_weights else "the candidate's own"
    return Rung(
        name=NAME,
        status="failed" if found else "passed",
        sentence=found[0].sentence if found else f"{len(wanted)} arrays equal to the bit ({how})",
        figures={"arrays": len(wanted), "copied": climb.copy_weights, "sha256": digests},
        differences=tuple(found),
    )
