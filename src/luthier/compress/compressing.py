"""A run made smaller step by step; a step that costs more score than it gives is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path

import msgspec
from msgspec import Struct

from luthier.compress.exporting import size_mb, stored_as, with_overrides
from luthier.compress.fine_tuning import fine_tuned
from luthier.compress.judging import Judge, Judged, Worth, judging
from luthier.compress.network import Network, Source, open_network, run_or_recipe
from luthier.compress.registry import encoder
from luthier.errors import RecipeError
from luthier.recipe import Recipe, Score
from luthier.store import Run, make_place, replace_file
from luthier.training import Listener

__all__ = ["Compression", "Tried", "compress"]

MODEL, RECORD = "model.onnx", "compression.json"


class Tried(Struct, frozen=True, kw_only=True):
    """One step: what the network was worth before and after, measured in turn, and whether it was kept."""

    step: str
    kept: bool
    reason: str
    before: Worth
    after: Worth
    run: str | None = None  # of a pruning: it trains on, measures and exports as any other


class Compression(Struct, frozen=True, kw_only=True):
    """What was tried, and what is left: a file, and the run that it is of."""

    path: str
    run: str
    storage: str
    judged: Judged
    before: Worth
    after: Worth
    steps: tuple[Tried, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Candidate:
    """A network as a file; `plain` is the same in float32."""

    run: Run
    checkpoint: str | int
    network: Network  # closed: its recipe and its data's description are what is asked
    plain: bytes
    data: bytes
    size_mb: float | None
    storage: str = "float32"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Work:
    """What every step needs to know."""

    folder: Path
    recipe: Recipe
    judge: Judge
    pixels: bool
    data_root: Path | str | None
    listeners: Callable[[], Iterable[Listener]]


def compress(
    source: Source,
    *,
    output: Path | str,
    overrides: Iterable[str] = (),
    pixels: bool = False,
    split: str | None = None,
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
    listeners: Callable[[], Iterable[Listener]] = list,
) -> Compression:
    """Try the steps of the recipe's `compress` on a run; the folder gets the file that is left, and the record.

    A pruned network is trained on in a run below the folder; called again after an interruption, it goes on there.
    """
    run, folder = _trained(source), Path(output)
    recipe = with_overrides(run.recipe, list(overrides))
    if not recipe.compress.steps:
        raise RecipeError(
            "The recipe names no steps to compress by",
            at="compress.steps",
            hint="""Try: --set 'compress.steps=["prune", "int8"]'""",
        )
    make_place(folder / MODEL, MODEL)
    with _judged(run, recipe, checkpoint, split, data_root) as judge:
        work = _Work(folder=folder, recipe=recipe, judge=judge, pixels=pixels, data_root=data_root, listeners=listeners)
        current = _as_file(run, checkpoint, work)
        (first,) = judge.worths([current.data], pixels=pixels, sizes=[current.size_mb])
        tried: list[Tried] = []
        for number, step in enumerate(recipe.compress.steps, start=1):
            current, told = _tried(f"{number}-{step}", step, current, work)
            tried.append(told)
        (last,) = judge.worths([current.data], pixels=pixels, sizes=[current.size_mb])
    done = Compression(
        path=str(folder / MODEL),
        run=str(current.run.path),
        storage=current.storage,
        judged=judge.judged,
        before=first,
        after=last,
        steps=tuple(tried),
    )
    replace_file(folder / MODEL, current.data)
    replace_file(folder / RECORD, msgspec.json.format(msgspec.json.encode(done), indent=2) + b"\n")
    return done


def _trained(source: Source) -> Run:
    found = run_or_recipe(source)
    if isinstance(found, Run):
        return found
    raise RecipeError(
        f"Only what was trained is compressed, {found.name} is a recipe", hint=f"First: luthier train {found.name}"
    )


@contextmanager
def _judged(
    run: Run, recipe: Recipe, checkpoint: str | int, split: str | None, data_root: Path | str | None
) -> Iterator[Judge]:
    with (
        open_network(run, checkpoint=checkpoint, data_root=data_root) as network,
        judging(network, calibration=recipe.compress.calibration, split=split, protocol=recipe.score) as judge,
    ):
        yield judge


def _as_file(run: Run, checkpoint: str | int, work: _Work) -> _Candidate:
    with open_network(run, checkpoint=checkpoint, data_root=work.data_root) as network:
        data = encoder("onnx")(network, pixels=work.pixels).data
        return _Candidate(
            run=run, checkpoint=checkpoint, network=network, plain=data, data=data, size_mb=size_mb(network)
        )


def _tried(name: str, step: str, current: _Candidate, work: _Work) -> tuple[_Candidate, Tried]:
    """What goes on is the smaller one where it is worth more, or the one before."""
    made = _pruned(name, current, work) if step == "prune" else _stored(step, current, work)
    files = [current.data, made.data]
    before, after = work.judge.worths(files, pixels=work.pixels, sizes=[current.size_mb, made.size_mb])
    gains = _gains(before, after, work.recipe.score)
    kept = sum(gains.values()) > 0
    told = Tried(
        step=step,
        kept=kept,
        reason=_reason(gains, kept=kept),
        before=before,
        after=after,
        run=str(made.run.path) if step == "prune" else None,
    )
    return (made if kept else current), told


def _pruned(name: str, current: _Candidate, work: _Work) -> _Candidate:
    """In float32 again: what was stored in fewer bits is stored so by a later step."""
    run = fine_tuned(
        current.run,
        checkpoint=current.checkpoint,
        folder=work.folder / name,
        config=work.recipe.compress,
        data_root=work.data_root,
        listeners=work.listeners,
    )
    return _as_file(run, "last", work)


def _stored(step: str, current: _Candidate, work: _Work) -> _Candidate:
    judge = changed(work.judge, network=current.network)
    data = stored_as(step, current.plain, judge, work.recipe, pixels=work.pixels)
    return changed(current, data=data, size_mb=None, storage=step)


def _gains(before: Worth, after: Worth, weights: Score) -> dict[str, float]:
    """What each of the score's three parts gained."""
    assert before.accuracy is not None, "a run's accuracy is measured"
    assert after.accuracy is not None, "a run's accuracy is measured"
    return {
        "accuracy": weights.accuracy * (after.accuracy - before.accuracy),
        "size": weights.size * (before.size_mb - after.size_mb),
        "latency": weights.latency * (before.latency_ms - after.latency_ms),
    }


def _reason(gains: dict[str, float], *, kept: bool) -> str:
    total = sum(gains.values())
    parts = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
    return f"{'gains' if kept else 'costs'} {abs(total):.3f} of score: {parts}"
