"""Up the ladder, rung by rung, to the first layer that differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec
import numpy as np

from luthier.errors import ModelError
from luthier.proof.asking import Asked, command
from luthier.proof.checklist import checklist
from luthier.proof.climb import Climb
from luthier.proof.evidence import leave, rung_file
from luthier.proof.failing import CandidateFailed
from luthier.proof.network import Array
from luthier.proof.opening import pair, ported
from luthier.proof.parts import part, write_case
from luthier.proof.rungs.data import data
from luthier.proof.rungs.forward import forward_evaluation, forward_training
from luthier.proof.rungs.further import further_steps
from luthier.proof.rungs.gradients import gradients, loss
from luthier.proof.rungs.metric import metric
from luthier.proof.rungs.rates import one_rate_a_step
from luthier.proof.rungs.steps import one_step
from luthier.proof.rungs.structure import structure
from luthier.proof.rungs.weights import weights
from luthier.proof.sides import open_trainer
from luthier.proof.verdict import Rung, Verdict
from luthier.recipe import Recipe, load
from luthier.store import here
from luthier.weights import WeightMap

__all__ = ["prove"]

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
FIRST = ("structure", "weights")  # without these nothing else means anything


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
            climb, sides = ported(reference, asked, stack)
            asked = replace(asked, output=asked.output or Path(reference) / "evidence")
        else:
            climb, sides = pair(reference, candidate, asked, stack)
        if each is not None:
            climb = part(climb, each, asked, stack)
        verdict = _climbed(climb, asked)
    if isinstance(sides[0], str | Path):
        verdict = msgspec.structs.replace(verdict, command=command(sides, asked, map, recipe, each))
    verdict = msgspec.structs.replace(verdict, seconds=perf_counter() - began)
    if asked.output is not None:
        arrays = {f"input_{i}": array for i, array in enumerate(climb.inputs(asked.seed))}
        leave(asked.output, verdict, arrays)
        if each is not None and isinstance(sides[0], str | Path):
            write_case(asked.output, sides, asked.inputs, map, each)
    return verdict


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
