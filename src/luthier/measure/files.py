"""An exported file as a row of the table, beside the runs: what is stored in it, what it answers, how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from msgspec.structs import asdict, replace

from luthier.compress import Deployed, Source, open_file, stored_bytes, stored_layers
from luthier.data import describe
from luthier.errors import RecipeError
from luthier.measure.measurement import Measurement
from luthier.measure.parameters import Layer, Sizes
from luthier.measure.scoring import score
from luthier.measure.subject import FileSubject
from luthier.measure.timing import chosen_ms
from luthier.measure.timing import latency as taken
from luthier.recipe import Recipe, Score, override
from luthier.training import evaluate, open_recipe_data

__all__ = ["is_file", "measure_file"]


def is_file(source: Source) -> TypeGuard[Path | str]:
    """By its name."""
    return isinstance(source, Path | str) and Path(source).suffix == ".onnx"


def measure_file(
    path: Path | str, *, overrides: Sequence[str], data_root: Path | str | None, latency: bool
) -> Measurement:
    """On the evaluation set of the recipe that it was exported with, and by that recipe's score."""
    file = open_file(path)
    protocol = _protocol(file.recipe, overrides)
    row = _structure(file, str(path), protocol)
    if file.step is not None:
        row = replace(row, **_quality(file, data_root))
    if latency:
        timings, conditions = taken(FileSubject(file.data, shape=file.shape, pixels=file.pixels), protocol)
        row = replace(row, latency_ms=chosen_ms(timings, protocol), latency=conditions, timings=timings)
    if row.accuracy is not None and row.latency_ms is not None:
        row = replace(row, score=score(row.accuracy, row.size_mb, row.latency_ms, protocol))
    return row


def _protocol(recipe: Recipe, overrides: Sequence[str]) -> Score:
    changed = override(recipe, overrides)
    if replace(changed, score=recipe.score) != recipe:
        raise RecipeError(f"Only the fields of [score] can be set for a file, got {', '.join(overrides)}")
    return changed.score


def _structure(file: Deployed, path: str, protocol: Score) -> Measurement:
    recipe, strategy, model = file.recipe, file.recipe.strategy, file.model
    stored = stored_bytes(model)
    layers = tuple(
        Layer(name=item.layer, kind=item.kind, shapes=item.shapes, trainable=item.count)
        for item in stored_layers(model)
    )
    return Measurement(
        name=file.name,
        run=None,
        file=path,
        step=file.step,
        network=recipe.model.name,
        batch_size=recipe.data.batch_size,
        epochs=_epochs(file),
        learning_rate=strategy.learning_rate,
        schedule=str(strategy.schedule.__struct_config__.tag),
        optimizer=str(strategy.optimizer.__struct_config__.tag),
        parameters=sum(layer.trainable for layer in layers),
        size_mb=sum(stored.values()) / 1e6,
        file_mb=len(file.data) / 1e6,
        protocol=protocol,
        layers=layers,
        sizes=Sizes(trainable=stored, frozen={}, buffers={}),
    )


def _epochs(file: Deployed) -> float:
    known = describe(file.recipe.data, accumulate=file.recipe.strategy.accumulate)
    steps = file.recipe.strategy.steps if file.step is None else file.step
    return steps / known.steps_per_epoch if steps and known else file.recipe.strategy.epochs


def _quality(file: Deployed, data_root: Path | str | None) -> dict[str, Any]:
    with open_recipe_data(file.recipe, data_root) as data:
        metrics = asdict(evaluate(file.answering().logits, data.eval))
    return {name: metrics[name] for name in ("accuracy", "top5", "loss", "samples")}
