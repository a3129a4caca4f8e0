"""What a missing, misshapen or frozen array, or another dropout, most likely means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from luthier.proof.network import Array, Layer, ParameterFact
from luthier.proof.traps.registry import cause, trap, traps_of
from luthier.proof.verdict import Cause

__all__ = ["structure_causes", "weight_causes"]


@dataclass(frozen=True, kw_only=True)
class Found:
    """`kind` is missing, extra, shape, frozen, thawed or dropout; `source` and `target` are the leaves' names."""

    kind: str
    layer: Layer | None
    source: str
    target: str
    reference: ParameterFact | None
    candidate: ParameterFact | None


def structure_causes(
    kind: str,
    layer: Layer | None,
    source: str,
    target: str,
    reference: ParameterFact | None,
    candidate: ParameterFact | None,
) -> tuple[Cause, ...]:
    """Every trap that fits."""
    found = Found(kind=kind, layer=layer, source=source, target=target, reference=reference, candidate=candidate)
    return tuple(cause(item, exact=False) for item in traps_of("structure") if item.function(found))


@trap(
    "missing-bias",
    subject="structure",
    hint="Write has_bias=True: convolutions of MindSpore have none unless told, dense layers have one.",
)
def missing_bias(found: Found) -> bool:
    """The candidate's layer has no bias."""
    return found.kind == "missing" and found.source.startswith("bias")


@trap("extra-bias", subject="structure", hint="Write has_bias=False; nn.Dense of MindSpore has a bias unless told.")
def extra_bias(found: Found) -> bool:
    """The candidate's layer has a bias that the reference's has not."""
    return found.kind == "extra" and found.target.startswith("bias")


@trap("affine", subject="structure", hint="Write affine as the reference has it.")
def affine(found: Found) -> bool:
    """The candidate's normalisation scales and shifts where the reference's does not, or the other way round."""
    names = ("gamma", "beta") if found.kind == "extra" else ("weight",)
    name = found.target if found.kind == "extra" else found.source
    normalises = found.layer is None or "Norm" in found.layer.kind
    return found.kind in ("missing", "extra") and name in names and normalises


@trap(
    "statistics",
    subject="structure",
    hint="MindSpore has no track_running_stats: refuse the layer, or keep the statistics on both sides.",
)
def statistics(found: Found) -> bool:
    """The running statistics stand on one side alone."""
    name = found.source if found.kind == "missing" else found.target
    return found.kind in ("missing", "extra") and name.startswith(("running_", "moving_"))


@trap("tied-weights", subject="structure", hint="Use one Parameter for both, or keep two on both sides.")
def tied(found: Found) -> bool:
    """One side shares a weight that the other holds twice."""
    return found.kind in ("missing", "extra") and (found.source or found.target) in ("weight", "embedding_table")


@trap(
    "weight-layout",
    subject="structure",
    hint="Give the weight map a transpose for this entry: TensorFlow has (height, width, in, out) and (in, out).",
)
def turned(found: Found) -> bool:
    """The candidate keeps the weight with its axes in another order."""
    if found.kind != "shape" or found.reference is None or found.candidate is None:
        return False
    return sorted(found.reference.shape) == sorted(found.candidate.shape)


@trap("groups", subject="structure", hint="Write group=… : the keyword is `group` in MindSpore, `groups` in PyTorch.")
def groups(found: Found) -> bool:
    """The candidate's convolution has another number of groups."""
    if found.kind != "shape" or found.reference is None or found.candidate is None:
        return False
    theirs, ours = found.reference.shape, found.candidate.shape
    return len(theirs) == len(ours) > 2 and theirs[0] == ours[0] and theirs[2:] == ours[2:] and theirs[1] != ours[1]


@trap("size", subject="structure", hint="Look at the layer's arguments in both lines.")
def another_size(found: Found) -> bool:
    """The candidate's layer has another size."""
    if found.kind != "shape" or found.reference is None or found.candidate is None:
        return False
    return sorted(found.reference.shape) != sorted(found.candidate.shape)


@trap("frozen", subject="structure", hint="Set requires_grad=True on the candidate's parameter.")
def frozen(found: Found) -> bool:
    """The candidate does not train a parameter that the reference trains."""
    return found.kind == "frozen"


@trap("frozen", subject="structure", hint="Set requires_grad=False on the candidate's parameter.")
def thawed(found: Found) -> bool:
    """The candidate trains a parameter that the reference keeps."""
    return found.kind == "thawed"


@trap("keep-probability", subject="structure", hint="Write nn.Dropout(p=…): the first argument is what is kept.")
def keep_probability(found: Found) -> bool:
    """The candidate keeps what the reference drops."""
    return found.kind == "dropout" and abs(float(found.source) + float(found.target) - 1.0) < 0.02


@trap("dropout", subject="structure", hint="Write nn.Dropout(p=…) with the reference's p, active in training alone.")
def another_dropout(found: Found) -> bool:
    """The candidate's dropout drops another share."""
    return found.kind == "dropout" and abs(float(found.source) + float(found.target) - 1.0) >= 0.02


def weight_causes(
    wanted: Array, own: Array, source: str, others: Mapping[str, Array], ours: Mapping[str, Array]
) -> tuple[Cause, ...]:
    """Why a weight that was loaded is not the reference's."""
    return tuple(cause(item, exact=True) for item in traps_of("weights") if item.function(wanted, own, source, others))


def _same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-7))


@trap("one-minus", subject="weights", hint="Give the weight map a one-minus for this entry, or take it out.")
def one_minus(wanted: Array, own: Array, _source: str, _others: Mapping[str, Array]) -> bool:
    """The candidate holds 1 − the reference's value."""
    return _same(1 - wanted, own)


@trap("weight-layout", subject="weights", hint="Give the weight map a transpose for this entry.")
def transposed(wanted: Array, own: Array, _source: str, _others: Mapping[str, Array]) -> bool:
    """The candidate holds the weight with its axes in another order."""
    return (
        own.ndim > 1
        and own.size == wanted.size
        and any(
            _same(np.moveaxis(wanted, 0, -1).reshape(own.shape), own) or _same(wanted.T.reshape(own.shape), own)
            for _ in (0,)
        )
    )


@trap("gate-order", subject="weights", hint="Give the weight map a reorder-gates for this entry.")
def gates(wanted: Array, own: Array, source: str, _others: Mapping[str, Array]) -> bool:
    """The candidate's gates lie in another order."""
    if not source.rpartition(".")[2].startswith(("weight_", "bias_")) or own.shape != wanted.shape:
        return False
    return _same(np.sort(wanted.ravel()), np.sort(own.ravel()))


@trap("swapped", subject="weights", hint="Look at the weight map: two of its entries are crossed.")
def swapped(wanted: Array, own: Array, _source: str, others: Mapping[str, Array]) -> bool:
    """The candidate holds another of the reference's arrays here."""
    return any(_same(other, own) for other in others.values() if other is not wanted and own.size > 1)


@trap(
    "not-loaded", subject="weights", hint="load_param_into_net gives back the names that it did not load: look at them."
)
def not_loaded(_wanted: Array, own: Array, _source: str, _others: Mapping[str, Array]) -> bool:
    """The candidate still has what it was built with: nothing was loaded here."""
    return bool(np.all(own == own.flat[0])) if own.size > 1 else False
