"""From the two sides to a climb: the networks, their inputs and labels, and whether the reference runs on them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from luthier.errors import ProofError
from luthier.port import Port, build_source, open_port
from luthier.proof.asking import Asked
from luthier.proof.climb import Climb
from luthier.proof.inputs import InputSpec, made, parse_input, varied
from luthier.proof.network import Array
from luthier.proof.ported import load_candidate, paths_of, places_of
from luthier.proof.recipes import training_batches
from luthier.proof.sides import open_candidate, open_reference
from luthier.recipe import Adam, AdamW, Momentum, Nesterov
from luthier.weights import read_map

__all__ = ["made_climb", "pair", "ported"]

OPTIMIZERS = tuple(kind(weight_decay=decay) for kind in (Momentum, Nesterov, Adam, AdamW) for decay in (0.0, 0.05))


def pair(reference: Any, candidate: Any, asked: Asked, stack: ExitStack) -> tuple[Climb, tuple[Any, Any]]:
    """Two networks of the user's."""
    theirs = open_reference(reference)
    ours = open_candidate(candidate)
    stack.callback(ours.close)
    given = read_map(Path(asked.map)) if isinstance(asked.map, str | Path) else asked.map
    return made_climb(theirs, ours, asked, given_map=given, copy_weights=not asked.keep_weights), (reference, candidate)


def ported(folder: Any, asked: Asked, stack: ExitStack) -> tuple[Climb, tuple[Any, Any]]:
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
    climb = made_climb(
        theirs,
        ours,
        replace(asked, inputs=list(asked.inputs) or specs),
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


def made_climb(theirs: Any, ours: Any, asked: Asked, **given: Any) -> Climb:
    """A climb whose reference runs on its inputs."""
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
