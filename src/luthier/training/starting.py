"""A run that starts from another's weights, whichever engine made them, or from a file's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from numpy.typing import NDArray

from luthier.engines import Session, require_match
from luthier.engines.mindspore import keep_from_terminal
from luthier.errors import CheckpointError, ModelError, RecipeError, nearest
from luthier.recipe import Start
from luthier.store import Run, chosen_checkpoint, load_checkpoint, open_run
from luthier.weights import is_weights_file, read_weights, renamed

__all__ = ["start_from"]

FEW = 3  # layers of another shape: more of them are another network


@dataclass(frozen=True, kw_only=True)
class _Found:
    """Weights, and where exactly they lie."""

    start: Start
    told: str
    arrays: Mapping[str, NDArray[Any]]


def start_from(session: Session, start: Start) -> Start:
    """Put the weights that `start` names into a fresh session; the one given back tells where they are to be found.

    The optimizer begins anew. What is not this network's is refused, and nothing of it is taken.
    """
    if not start.path:
        return start
    found = _found(start)
    if start.sha256 and found.start.sha256 != start.sha256:
        raise ModelError(
            f"{start.path} has not the weights that were started from: their SHA-256 was {start.sha256[:12]}…, "
            f"now it is {found.start.sha256[:12]}…",
            at="start.sha256",
            hint="Leave start.sha256 out to take them as they are now.",
        )
    state = session.state()
    own = {key.removeprefix("model/"): array for key, array in state.items() if key.startswith("model/")}
    fresh = _fresh(start, own)
    given = renamed(found.arrays, {name: tuple(array.shape) for name, array in own.items()})
    arrays = {name: array for name, array in given.items() if not _is_within(name, start.fresh)}
    arrays |= {name: own[name] for name in fresh}
    _require_match(own, arrays, found)
    session.load({f"model/{name}": arrays[name] for name in own})
    if any(key.startswith("average/") for key in state):
        session.load({f"average/{name}": arrays[name] for name in own})
    session.notes = (*session.notes, f"It starts from {found.told}")
    return found.start


def _found(start: Start) -> _Found:
    path = Path(start.path).expanduser()
    if is_weights_file(path) or path.is_file():
        keep_from_terminal()  # what MindSpore says of its own file, if the file is MindSpore's
        arrays = read_weights(path)
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return _Found(start=replace(start, path=str(path.resolve()), sha256=digest), told=str(path), arrays=arrays)
    run = open_run(path)
    saved = load_checkpoint(chosen_checkpoint(run, start.checkpoint))
    resolved = replace(start, path=str(run.path.resolve()), checkpoint=saved.step, sha256=saved.weights_sha256)
    return _Found(start=resolved, told=f"{run.name}, step {saved.step}{_trained_on(run)}", arrays=saved.weights)


def _trained_on(run: Run) -> str:
    result = run.result()
    return f", trained on {result.engine}" if result else ""


def _fresh(start: Start, own: Mapping[str, Any]) -> list[str]:
    """The network's names within the layers that keep the seed's weights; one that is nowhere is refused."""
    for layer in start.fresh:
        if not any(_is_within(name, (layer,)) for name in own):
            meant = nearest(layer, [*own, *(name.rpartition(".")[0] for name in own)])
            hint = f"Perhaps you meant '{meant}'." if meant else f"It has: {', '.join(own)}."
            raise RecipeError(f"The network has no layer or parameter '{layer}'", at="start.fresh", hint=hint)
    return [name for name in own if _is_within(name, start.fresh)]


def _is_within(name: str, layers: tuple[str, ...]) -> bool:
    return any(name == layer or name.startswith(f"{layer}.") for layer in layers)


def _require_match(own: Mapping[str, Any], arrays: Mapping[str, Any], found: _Found) -> None:
    try:
        require_match("model", own, arrays)
    except CheckpointError as error:
        hint = error.hint
        if own.keys() == arrays.keys():
            other = dict.fromkeys(n.rpartition(".")[0] or n for n in own if own[n].shape != arrays[n].shape)
            listed = ", ".join(f'"{layer}"' for layer in other)
            hint = f"To train such layers anew: --set 'start.fresh=[{listed}]'" if len(other) <= FEW else None
        raise ModelError(error.sentence, at=found.start.path, hint=hint) from None
