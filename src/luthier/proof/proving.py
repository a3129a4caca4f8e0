"""Up the ladder, rung by rung, to the first layer that differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from luthier.errors import ModelError, ProofError, unknown
from luthier.port import Port, build_source, open_port
from luthier.proof.checklist import checklist
from luthier.proof.climb import Climb
from luthier.proof.evidence import leave, rung_file
from luthier.proof.failing import CandidateFailed
from luthier.proof.inputs import InputSpec, made, parse_input, varied
from luthier.proof.network import Array
from luthier.proof.ported import load_candidate, paths_of, places_of
from luthier.proof.recipes import training_batches
from luthier.proof.rungs.data import data
from luthier.proof.rungs.forward import forward_evaluation, forward_training
from luthier.proof.rungs.gradients import gradients, loss
from luthier.proof.rungs.metric import metric
from luthier.proof.rungs.steps import further_steps, one_rate_a_step, one_step
from luthier.proof.rungs.structure import structure
from luthier.proof.rungs.weights import weights
from luthier.proof.sides import open_candidate, open_reference, open_trainer
from luthier.proof.verdict import Rung, Verdict
from luthier.recipe import Adam, AdamW, Momentum, Nesterov, Recipe, load
from luthier.store import here
from luthier.weights import WeightMap, read_map

__all__ = ["OPTIMIZERS", "prove"]

RUNGS: Sequence[tuple[str, Callable[[Climb], Rung], bool]] = (  # and whether it trains
    ("structure", structure, False),
    ("weights", weights, False),
    ("data", data, False),
    ("forward, evaluation", forward_evaluation, False),
    ("forward, training", forward_training, True),
    ("loss", loss, True),
    ("gradients", gradients, True),
    ("learning rates", one_rate_a_step, True),
    ("optimizer steps", one_step, True),
    ("further steps", further_steps, True),
    ("metric", metric, False),
)
OPTIMIZERS = tuple(kind(weight_decay=decay) for kind in (Momentum, Nesterov, Adam, AdamW) for decay in (0.0, 0.05))
FIRST = ("structure", "weights")  # without these nothing else means anything


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the caller wants, besides the two sides."""

    inputs: Sequence[Any]
    map: Any
    labels: Array | None
    trainers: tuple[Any, Any]
    recipe: Recipe | None
    steps: int
    seed: int
    keep_weights: bool
    keep_going: bool
    output: Path | None
    data_root: Path | None


def prove(
    reference: Any,
    candidate: Any = None,
    inputs: Sequence[Any] = (),
    *,
    map: WeightMap | Path | str | None = None,  # noqa: A002
    labels: Array | None = None,
    reference_trainer: Any = None,
    candidate_trainer: Any = None,
    recipe: Recipe | Path | str | None = None,
    overrides: Sequence[str] = (),
    each: str | None = None,
    steps: int = 5,
    seed: int = 0,
    keep_weights: bool = False,
    keep_going: bool = False,
    output: Path | str | None = None,
    data_root: Path | str | None = None,
) -> Verdict:
    """Compare a candidate with a reference, or a folder that `luthier port` wrote with what it was ported from.

    A side is a network, a factory or `file.py:name`; an input is an array or `[name:]shape[:dtype]`. The reference's
    weights are copied into the candidate through the map, which is guessed where none is given; `keep_weights` judges
    the candidate's own. With `each` a sub-network is proven alone, on the inputs that it has in the whole.
    """
    began = perf_counter()
    asked = Asked(
        inputs=[inputs] if isinstance(inputs, str | np.ndarray) else list(inputs),
        map=map,
        labels=labels,
        trainers=(
            open_trainer(reference_trainer, "--reference-trainer"),
            open_trainer(candidate_trainer, "--candidate-trainer"),
        ),
        recipe=load(recipe, overrides) if isinstance(recipe, str | Path) else recipe,
        steps=steps,
        seed=seed,
        keep_weights=keep_weights,
        keep_going=keep_going,
        output=None if output is None else Path(output),
        data_root=None if data_root is None else Path(data_root),
    )
    with ExitStack() as stack:
        if candidate is None:
            climb, sides = _ported(reference, asked, stack)
            asked = msgspec_like(asked, output=asked.output or Path(reference) / "evidence")
        else:
            climb, sides = _pair(reference, candidate, asked, stack)
        if each is not None:
            climb = _part(climb, each, asked, stack)
        verdict = _climbed(climb, asked)
    if isinstance(sides[0], str | Path):
        verdict = msgspec.structs.replace(verdict, command=command(sides, asked, map, recipe, each))
    verdict = msgspec.structs.replace(verdict, seconds=perf_counter() - began)
    if asked.output is not None:
        arrays = {f"input_{i}": array for i, array in enumerate(climb.inputs(asked.seed))}
        leave(asked.output, verdict, arrays)
    return verdict


def msgspec_like(asked: Asked, **changed: Any) -> Asked:
    """The same with some fields changed."""
    from dataclasses import replace

    return replace(asked, **changed)


def command(sides: tuple[Any, Any], asked: Asked, given_map: Any, recipe: Any, each: str | None) -> str:
    """What repeats it from the same folder, as far as a command line can say it."""
    parts = ["luthier prove"]
    parts += [str(sides[0])] if sides[1] is None else [f"--reference {sides[0]} --candidate {sides[1]}"]
    parts += [f"--input {item}" if isinstance(item, str) else "--input …" for item in asked.inputs]
    parts += [f"--map {given_map}"] if isinstance(given_map, str | Path) else []
    parts += [f"--recipe {recipe}"] if isinstance(recipe, str | Path) else []
    parts += [f"--each {each}"] if each is not None else []
    parts += [f"--steps {asked.steps}"] if asked.steps != 5 else []
    parts += [f"--seed {asked.seed}"] if asked.seed else []
    parts += ["--keep-weights"] if asked.keep_weights else []
    return " ".join(parts)


def _pair(reference: Any, candidate: Any, asked: Asked, stack: ExitStack) -> tuple[Climb, tuple[Any, Any]]:
    theirs = open_reference(reference)
    ours = open_candidate(candidate)
    stack.callback(ours.close)
    given = read_map(Path(asked.map)) if isinstance(asked.map, str | Path) else asked.map
    return _made(theirs, ours, asked, given_map=given, copy_weights=not asked.keep_weights), (reference, candidate)


def _ported(folder: Any, asked: Asked, stack: ExitStack) -> tuple[Climb, tuple[Any, Any]]:
    """The port's own weights are judged."""
    place = Path(folder)
    if not place.is_dir():
        raise ProofError(
            f"Expected a folder that a port wrote, got '{folder}'",
            hint="Or name two networks: --reference ref.py:net --candidate my.py:Net --input 1,3,224,224",
        )
    port = open_port(place)
    theirs: Any = _source_of(port, place)
    ours = open_candidate(str(place / port.candidate))
    stack.callback(ours.close)
    load_candidate(ours, place / port.weights)
    specs = [InputSpec(name=item.name, shape=item.shape, dtype=item.dtype) for item in port.inputs]
    climb = _made(
        theirs,
        ours,
        msgspec_like(asked, inputs=list(asked.inputs) or specs),
        given_map=read_map(place / port.map),
        copy_weights=False,
        known_paths=paths_of(port),
        known_places=places_of(port, place),
        constants=frozenset(port.constants),
    )
    return climb, (folder, None)


def _source_of(port: Port, place: Path) -> Any:
    """A module, or an ONNX file."""
    if port.source.kind == "onnx":
        from luthier.proof.onnx.network import OnnxReference

        return OnnxReference(port.source, read_map(place / port.map).names())
    return open_reference(lambda: build_source(port.source), name=port.source.spec)


def _made(theirs: Any, ours: Any, asked: Asked, **given: Any) -> Climb:
    inputs, labels = _data(theirs, asked)
    climb = Climb(
        reference=theirs,
        candidate=ours,
        inputs=inputs,
        labels=labels,
        seed=asked.seed,
        trainers=_with_smoothing(asked),
        recipe=asked.recipe,
        steps=asked.steps,
        optimizers=OPTIMIZERS if asked.recipe is None else (asked.recipe.strategy.optimizer,),
        data_root=asked.data_root,
        **given,
    )
    _try_reference(climb)
    return climb


def _with_smoothing(asked: Asked) -> tuple[Any, Any]:
    """A recipe's loss, where the user gives none."""
    if asked.recipe is None or any(asked.trainers):
        return asked.trainers
    from types import SimpleNamespace

    one = SimpleNamespace(label_smoothing=asked.recipe.strategy.label_smoothing)
    return one, one


def _data(theirs: Any, asked: Asked) -> tuple[Any, Any]:
    """Inputs and labels by seed: the trainer's batches, the recipe's, the user's arrays, or numbers drawn."""
    source = getattr(asked.trainers[0], "batches", None)
    if source is not None:
        return _of_trainer(source)
    if asked.recipe is not None and not asked.inputs:
        batch = training_batches(asked.recipe, asked.data_root)
        return (lambda seed: [batch(seed)[0]]), (lambda seed, _shape: batch(seed)[1])
    if not asked.inputs:
        raise ProofError("No inputs to run the networks on", hint="Give --input 1,3,224,224, or --recipe.")
    if all(isinstance(item, np.ndarray) for item in asked.inputs):
        return varied(asked.inputs), _labels(asked)
    specs = [item if isinstance(item, InputSpec) else parse_input(str(item)) for item in asked.inputs]
    return made(specs, theirs.largest_index()), _labels(asked)


def _of_trainer(source: Callable[[], Any]) -> tuple[Any, Any]:
    from itertools import islice

    from luthier.proof.rungs.data import _arrays

    found = [_arrays(batch) for batch in islice(source(), 16)]
    if not found:
        raise ProofError("The reference's trainer gives no batch", at="--reference-trainer")
    return (lambda seed: found[seed % len(found)][:-1]), (lambda seed, _shape: found[seed % len(found)][-1])


def _labels(asked: Asked) -> Callable[[int, tuple[int, ...]], Array | None]:
    """Classes for outputs that are one a class; none for anything else."""

    def labels(seed: int, shape: tuple[int, ...]) -> Array | None:
        if asked.labels is not None:
            return asked.labels
        if len(shape) != 2 or shape[1] < 2:
            return None
        return np.random.default_rng([seed, 3]).integers(0, shape[1], shape[0])

    return labels


def _try_reference(climb: Climb) -> None:
    """The inputs are the user's: what the reference says of them is said first."""
    try:
        climb.reference.outputs(climb.inputs(climb.seed))
    except Exception as fault:  # whatever the user's module raises
        shapes = ", ".join(str(list(array.shape)) for array in climb.inputs(climb.seed))
        said = next(iter(str(fault).strip().splitlines()), "")
        raise ProofError(
            f"The reference cannot run on inputs of the shapes {shapes}: {type(fault).__name__}: {said}",
            at="--input",
        ) from fault


def _part(climb: Climb, path: str, asked: Asked, stack: ExitStack) -> Climb:
    """A sub-network as a case of its own, on the inputs that it has in the whole."""
    from luthier.proof.mindspore.network import MindSporeCandidate
    from luthier.proof.torch.network import TorchReference

    if climb.reference.framework != "torch":
        raise ProofError("Only a PyTorch reference is proven in parts", at="--each", hint="Prove the whole port.")
    structure(climb)
    if path not in climb.reference_layers:
        sentence, hint = unknown("layer", path, [name for name in climb.reference_layers if name])
        raise ProofError(sentence, at="--each", hint=hint)
    if path not in climb.paths:
        raise ProofError(f"The candidate has no layer for '{path}'", at="--each", hint="Name it in the weight map.")
    calls = climb.reference.trace(climb.inputs(asked.seed), training=False).by_path().get(path, [])
    if not calls or calls[0].kwargs or not all(isinstance(item, np.ndarray) for item in calls[0].args):
        raise ProofError(f"'{path}' does not take arrays alone, or is never called", at="--each")
    theirs: Any = climb.reference
    ours: Any = climb.candidate
    copied = asked.keep_weights is False and climb.copy_weights
    if copied:
        ours.load(climb.to_target(theirs.arrays()))
    whole = climb.weight_map or WeightMap(entries=())
    kept = tuple(
        msgspec.structs.replace(entry, source=entry.source[len(path) + 1 :])
        for entry in whole.entries
        if entry.source.startswith(f"{path}.")
    )
    part = MindSporeCandidate(ours.part(climb.paths[path]), f"{climb.candidate.name}, {path}")
    stack.callback(part.close)
    reference = TorchReference(theirs.module.get_submodule(path), f"{climb.reference.name}, {path}")
    asked = msgspec_like(asked, inputs=[item.astype(item.dtype) for item in calls[0].args], recipe=None)
    return _made(reference, part, asked, given_map=WeightMap(entries=kept), copy_weights=copied)


def _climbed(climb: Climb, asked: Asked) -> Verdict:
    rungs: list[Rung] = []
    stopped = ""
    for number, (name, rung, trains) in enumerate(RUNGS, start=1):
        if stopped and not (asked.keep_going and stopped not in FIRST):
            rungs.append(Rung(name=name, status="not reached", sentence=f"'{stopped}' failed first"))
            continue
        if trains and not climb.reference.trains:
            rungs.append(Rung(name=name, status="not applicable", sentence=_untrained(climb)))
            continue
        began = perf_counter()
        found = _judged(climb, name, rung)
        found = msgspec.structs.replace(found, seconds=perf_counter() - began, evidence=rung_file(number, found))
        rungs.append(found)
        if found.status == "failed" and not stopped:
            stopped = name
    failed = [rung for rung in rungs if rung.status == "failed"]
    first = next((difference for rung in failed for difference in rung.differences), None)
    return Verdict(
        proven=not failed and any(rung.status == "passed" for rung in rungs),
        reference=climb.reference.name,
        candidate=climb.candidate.name,
        rungs=tuple(rungs),
        first=first,
        notes=(*climb.reference.notes, *climb.candidate.notes, *climb.notes),
        checklist=checklist(rungs, _known(asked)),
        environment=msgspec.to_builtins(here(datetime.now())) | {"seed": asked.seed},
    )


def _untrained(climb: Climb) -> str:
    if climb.reference.framework == "onnx":
        return "an ONNX file runs forward alone: it has no loss and no gradients"
    return "the reference does not train"


def _judged(climb: Climb, name: str, rung: Callable[[Climb], Rung]) -> Rung:
    """What the candidate cannot run is a difference, too."""
    try:
        return rung(climb)
    except CandidateFailed as fault:
        told = f"The candidate cannot run: {fault}"
        difference = climb.difference(name, fault.layer, "a call that fails", sentence=told)
        if fault.place is not None:
            difference = msgspec.structs.replace(difference, candidate=fault.place)
        return Rung(name=name, status="failed", sentence=told, differences=(difference,))
    except ModelError as fault:
        return Rung(
            name=name,
            status="failed",
            sentence=fault.sentence,
            differences=(climb.difference(name, "", "a refusal", sentence=fault.sentence),),
        )


def _known(asked: Asked) -> Mapping[int, tuple[str, str]]:
    """What is done by other means than a rung."""
    found: dict[int, tuple[str, str]] = {}
    if asked.recipe is not None:
        found[8] = (f"both sides take every hyper-parameter from the recipe '{asked.recipe.name}'", "")
    if asked.output is not None and (asked.output.parent / "report.json").is_file():
        found[4] = ("every operator is in the port's report", "../report.json")
    return found
