"""What every rung shares: both sides, what corresponds to what, and passes that were made already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from luthier.proof.network import Array, Arrays, Call, Candidate, Layer, ParameterFact, Reference, Trace
from luthier.proof.verdict import Difference, Place
from luthier.weights import WeightMap

__all__ = ["Climb", "Passes", "corresponding"]


@dataclass(frozen=True, kw_only=True)
class Passes:
    """The reference's pass in its own dtype, exactly, and disturbed by one rounding; and the candidate's."""

    own: Trace
    exact: Trace
    disturbed: Trace
    candidate: Trace


@dataclass(kw_only=True)
class Climb:
    """Built once for a proof; `weight_map` is set by the rung that looks at the structure."""

    reference: Reference
    candidate: Candidate
    inputs: Callable[[int], list[Array]]  # by seed
    labels: Callable[[int, tuple[int, ...]], Array | None]  # by seed and the shape of the first output
    seed: int = 0
    weight_map: WeightMap | None = None
    given_map: WeightMap | None = None
    copy_weights: bool = True
    trainers: tuple[Any, Any] = (None, None)
    recipe: Any = None
    steps: int = 5
    optimizers: Sequence[Any] = ()
    known_paths: Mapping[str, str] = field(default_factory=dict)
    known_places: Mapping[str, tuple[Place | None, Place | None]] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()  # sources of the map that the reference keeps outside its state
    notes: list[str] = field(default_factory=list)
    data_root: Any = None

    def __post_init__(self) -> None:
        self.reference_layers: dict[str, Layer] = {layer.path: layer for layer in self.reference.layers()}
        self.candidate_layers: dict[str, Layer] = {layer.path: layer for layer in self.candidate.layers()}
        self.reference_facts: dict[str, ParameterFact] = {fact.name: fact for fact in self.reference.parameters()}
        self.candidate_facts: dict[str, ParameterFact] = {fact.name: fact for fact in self.candidate.parameters()}
        self._passes: dict[tuple[bool, int], Passes] = {}
        self.paths: dict[str, str] = {}
        self.pair_layers()

    def pair_layers(self) -> None:
        """Again as soon as the weight map is known."""
        self.paths = corresponding(
            self.reference_layers,
            self.candidate_layers,
            self.known_paths,
            self.weight_map,
            {name: fact.owner for name, fact in self.candidate_facts.items()},
        )

    def passes(self, *, training: bool, seed: int | None = None) -> Passes:
        """Made once for each mode and seed."""
        key = (training, self.seed if seed is None else seed)
        if key not in self._passes:
            inputs = self.inputs(key[1])
            self._passes[key] = Passes(
                own=self.reference.trace(inputs, training=training),
                exact=self.reference.trace(inputs, training=training, exact=True),
                disturbed=self.reference.trace(inputs, training=training, exact=True, disturb=1.0, seed=1),
                candidate=self.candidate.trace(inputs, training=training),
            )
        return self._passes[key]

    def labels_for(self, seed: int) -> Array | None:
        """Of the batch of this seed, by the reference's outputs."""
        outputs = self.passes(training=True, seed=self.seed).own.outputs
        return self.labels(seed, outputs[0].shape if len(outputs) == 1 else ())

    def to_source(self, arrays: Mapping[str, Array], *, linear: bool = False) -> Arrays:
        """The candidate's arrays by the reference's names; what the map does not know is left out."""
        if self.weight_map is None:
            return {}
        known = self.weight_map.inverted_names()
        kept = {name: array for name, array in arrays.items() if name in known}
        return self.weight_map.to_source(kept, linear=linear, partial=True)

    def to_target(self, arrays: Mapping[str, Array], *, linear: bool = False) -> Arrays:
        """The reference's arrays by the candidate's names."""
        if self.weight_map is None:
            return {}
        known = self.weight_map.names()
        kept = {name: array for name, array in arrays.items() if name in known}
        return self.weight_map.to_target(kept, linear=linear, partial=True)

    def places(self, path: str) -> tuple[Place | None, Place | None]:
        """The line that made the layer, on either side."""
        known = self.known_places.get(path, (None, None))
        target = self.paths.get(path, path)
        own = self.reference_layers.get(path), self.candidate_layers.get(target)
        return tuple(k or (layer.place if layer else None) for k, layer in zip(known, own, strict=True))  # type: ignore[return-value]

    def difference(self, rung: str, layer: str, what: str, **given: Any) -> Difference:
        """With both lines beside it."""
        reference, candidate = self.places(layer)
        return Difference(rung=rung, layer=layer, what=what, reference=reference, candidate=candidate, **given)

    def comparable(self, passes: Passes) -> list[tuple[Call, str, int]]:
        """The reference's calls whose layer the candidate called as often: call, the candidate's path, which call."""
        theirs, ours = passes.own.by_path(), passes.candidate.by_path()
        seen: dict[str, int] = {}
        found = []
        for call in passes.own.calls:
            number = seen.get(call.path, 0)
            seen[call.path] = number + 1
            target = self.paths.get(call.path)
            if target is None or len(ours.get(target, ())) != len(theirs[call.path]):
                continue
            if len(ours[target][number].outputs) == len(call.outputs):
                found.append((call, target, number))
        return found

    def leaves(self, calls: Sequence[tuple[Call, str, int]]) -> list[tuple[Call, str, int]]:
        """Those without another comparable layer inside."""
        paths = {call.path for call, _, _ in calls}
        outer = {".".join(path.split(".")[:i]) for path in paths if path for i in range(len(path.split(".")))}
        return [item for item in calls if item[0].path not in outer]


def corresponding(
    reference: Mapping[str, Layer],
    candidate: Mapping[str, Layer],
    known: Mapping[str, str],
    weight_map: WeightMap | None,
    owners: Mapping[str, str],
) -> dict[str, str]:
    """The candidate's path for each of the reference's: as told, equal, or as the weights' owners have it."""
    found = {path: path for path in reference if path in candidate}
    for entry in weight_map.entries if weight_map else ():
        source, target = entry.source.rpartition(".")[0], owners.get(entry.target, "")
        while source in reference and target in candidate and source and target:
            if source in found and found[source] == target:
                break
            found[source] = target
            (source, _, one), (target, _, other) = source.rpartition("."), target.rpartition(".")
            if one != other:
                break
    return found | {path: target for path, target in known.items() if path in reference and target in candidate}


def rng(seed: int, salt: int = 0) -> np.random.Generator:
    """Numbers that a seed alone decides."""
    return np.random.default_rng([seed, salt])
