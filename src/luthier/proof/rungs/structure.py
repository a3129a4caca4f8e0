"""Names, shapes, counts, trainable counts; and what dropout does, which no number shows while it is off."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from luthier.errors import nearest
from luthier.proof.climb import Climb
from luthier.proof.network import ParameterFact
from luthier.proof.traps import structure_causes
from luthier.proof.verdict import Difference, Rung
from luthier.weights import Pairing, WeightMap, pair

__all__ = ["structure"]

NAME = "structure"
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
SHARE = 0.02  # of a dropout's ones: twenty deviations of what is drawn


def structure(climb: Climb) -> Rung:
    """Every array has its partner of the same shape, and is trained on both sides or on neither."""
    theirs, ours = climb.reference_facts, climb.candidate_facts
    shapes = [{name: fact.shape for name, fact in facts.items()} for facts in (theirs, ours)]
    pairing = pair(*shapes) if climb.given_map is None else _checked(climb, climb.given_map)
    climb.weight_map = pairing.weight_map
    climb.pair_layers()
    differences = [*_of_names(climb, pairing), *_of_training(climb, pairing.weight_map), *_of_dropout(climb)]
    count = _counts(theirs)
    figures = {"reference": count, "candidate": _counts(ours), "layers": len(climb.paths)}
    told = (
        f"{count['numbers']:,} numbers in {count['arrays']} arrays, {count['trainable']:,} of them trainable, "
        "on both sides"
    )
    if differences:
        told = differences[0].sentence or differences[0].what
    return Rung(
        name=NAME,
        status="failed" if differences else "passed",
        sentence=told,
        figures=figures,
        differences=tuple(differences),
    )


def _counts(facts: Mapping[str, ParameterFact]) -> dict[str, int]:
    kept = [fact for fact in facts.values() if not fact.name.endswith("num_batches_tracked")]
    return {
        "arrays": len(kept),
        "numbers": sum(prod(fact.shape) for fact in kept),
        "trainable": sum(prod(fact.shape) for fact in kept if fact.trainable),
    }


def _checked(climb: Climb, given: WeightMap) -> Pairing:
    """A map that was given, against both networks; a constant of the source is the candidate's own."""
    theirs, ours = climb.reference_facts, climb.candidate_facts
    kept = tuple(entry for entry in given.entries if entry.source not in climb.constants)
    own = {entry.target for entry in given.entries} - {entry.target for entry in kept}
    given = WeightMap(entries=kept, dropped=given.dropped)
    import numpy as np

    misshapen = []
    for entry in given.entries:
        if entry.source in theirs and entry.target in ours:
            turned = entry.transform.there(np.empty(theirs[entry.source].shape, np.bool_), linear=True)
            if turned.shape != ours[entry.target].shape:
                misshapen.append((entry.source, entry.target))
    known = {entry.source for entry in given.entries} | {item.source for item in given.dropped}
    targets = {entry.target for entry in given.entries}
    homeless = [name for name in theirs if name not in known and not name.endswith(STATISTICS[2])]
    homeless += [entry.source for entry in given.entries if entry.target not in ours]
    unfed = [name for name in ours if name not in targets | own]
    unfed += [entry.target for entry in given.entries if entry.source not in theirs and entry.target in ours]
    wrong = {name for pair_ in misshapen for name in pair_}
    entries = tuple(e for e in given.entries if e.source in theirs and e.target in ours and e.source not in wrong)
    dropped = tuple(item for item in given.dropped if item.source in theirs)
    return Pairing(
        weight_map=WeightMap(entries=entries, dropped=dropped),
        homeless=tuple(homeless),
        unfed=tuple(unfed),
        misshapen=tuple(misshapen),
    )


def _of_names(climb: Climb, pairing: Pairing) -> list[Difference]:
    theirs, ours = climb.reference_facts, climb.candidate_facts
    found = []
    for name, other in pairing.misshapen:
        sentence = f"'{name}' has the shape {theirs[name].shape}, the candidate's '{other}' has {ours[other].shape}"
        found.append(_told(climb, theirs[name].owner, name, sentence, "shape", name, other))
    for name in pairing.homeless:
        near = nearest(name, pairing.unfed)
        sentence = f"The candidate has no '{name}'" + (f"; the nearest name there is '{near}'" if near else "")
        found.append(_told(climb, theirs[name].owner, name, sentence, "missing", name, near or ""))
    for name in pairing.unfed:
        near = nearest(name, pairing.homeless)
        sentence = f"The candidate has '{name}', the reference has nothing for it"
        sentence += f"; the nearest name there is '{near}'" if near else ""
        source = {target: path for path, target in climb.paths.items()}.get(ours[name].owner, ours[name].owner)
        found.append(_told(climb, source, name, sentence, "extra", near or "", name))
    order = list(climb.reference_layers)
    return sorted(found, key=lambda item: order.index(item.layer) if item.layer in order else len(order))


def _told(climb: Climb, layer: str, what: str, sentence: str, kind: str, source: str, target: str) -> Difference:
    facts = climb.reference_facts.get(source), climb.candidate_facts.get(target)
    causes = structure_causes(
        kind, climb.reference_layers.get(layer), source.rpartition(".")[2], target.rpartition(".")[2], *facts
    )
    return climb.difference(NAME, layer, what, sentence=sentence, causes=causes)


def _of_training(climb: Climb, weight_map: WeightMap) -> list[Difference]:
    found = []
    for entry in weight_map.entries:
        source, target = climb.reference_facts[entry.source], climb.candidate_facts[entry.target]
        if source.trainable != target.trainable:
            sides = ("is trained", "is not") if source.trainable else ("is not trained", "is")
            sentence = f"'{entry.source}' {sides[0]}, the candidate's '{entry.target}' {sides[1]}"
            kind = "frozen" if source.trainable else "thawed"
            found.append(_told(climb, source.owner, entry.source, sentence, kind, entry.source, entry.target))
    return found


def _of_dropout(climb: Climb) -> list[Difference]:
    """By what it does to many ones, in either mode."""
    found = []
    for path, layer in climb.reference_layers.items():
        other = climb.candidate_layers.get(climb.paths.get(path, ""))
        if not layer.is_dropout or other is None or other.path == "" or not other.is_dropout:
            continue
        for training in (True, False):
            theirs = climb.reference.dropped(path, training=training)
            ours = climb.candidate.dropped(other.path, training=training)
            if abs(theirs - ours) > SHARE:
                mode = "training" if training else "evaluation"
                sentence = f"{path} drops {theirs:.1%} in {mode}, the candidate's {ours:.1%}"
                causes = structure_causes("dropout", layer, f"{theirs:.3f}", f"{ours:.3f}", None, None)
                found.append(
                    climb.difference(
                        NAME,
                        path,
                        f"share dropped in {mode}",
                        sentence=sentence,
                        causes=causes,
                        error=abs(theirs - ours),
                        limit=SHARE,
                    )
                )
                break
    return found
