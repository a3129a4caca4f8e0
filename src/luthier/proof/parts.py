"""A sub-network as a case of its own, and as a test that can be kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from luthier.errors import ProofError, unknown
from luthier.proof.asking import Asked
from luthier.proof.climb import Climb
from luthier.proof.opening import made_climb
from luthier.proof.rungs.structure import structure
from luthier.weights import WeightMap

__all__ = ["part", "write_case"]

CASE = '''"""The sub-network '{layer}', by itself, on the inputs that it has in the whole."""

import luthier


def test_{name}() -> None:
    verdict = luthier.prove(
{arguments}    )
    assert verdict.proven, verdict.first
'''


def part(climb: Climb, path: str, asked: Asked, stack: ExitStack) -> Climb:
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
    inner = MindSporeCandidate(ours.part(climb.paths[path]), f"{climb.candidate.name}, {path}")
    stack.callback(inner.close)
    reference = TorchReference(theirs.module.get_submodule(path), f"{climb.reference.name}, {path}")
    asked = replace(asked, inputs=[item.astype(item.dtype) for item in calls[0].args], recipe=None)
    return made_climb(reference, inner, asked, given_map=WeightMap(entries=kept), copy_weights=copied)


def write_case(folder: Path, sides: tuple[str, str | None], inputs: Sequence[Any], given_map: Any, layer: str) -> Path:
    """A test file that proves the sub-network again: for as long as it is worked on, and afterwards."""
    arguments = [repr(str(Path(side).resolve()) if ":" not in side else _resolved(side)) for side in sides if side]
    if given := [str(item) for item in inputs]:
        arguments.append(f"inputs={given!r}")
    if isinstance(given_map, str | Path):
        arguments.append(f"map={str(Path(given_map).resolve())!r}")
    name = "".join(letter if letter.isalnum() else "_" for letter in layer)
    rows = "".join(f"        {argument},\n" for argument in [*arguments, f"each={layer!r}"])
    path = folder / f"test_{name}.py"
    path.write_text(CASE.format(layer=layer, name=name, arguments=rows), "utf-8")
    return path


def _resolved(side: str) -> str:
    file, _, name = side.rpartition(":")
    return f"{Path(file).resolve()}:{name}"
