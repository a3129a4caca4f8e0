"""From a run or a recipe to its row: parameters, size, latency, accuracy and score."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from luthier.compress import Network, Source, open_network, run_or_recipe
from luthier.errors import ExportError, RecipeError, StoreError
from luthier.measure.files import is_file, measure_file
from luthier.measure.measurement import Measurement
from luthier.measure.parameters import Layer, Sizes, parameters_by_layer, sizes
from luthier.measure.scoring import score
from luthier.measure.subject import Subject
from luthier.measure.timing import chosen_ms
from luthier.measure.timing import latency as taken
from luthier.recipe import Recipe, Score, override
from luthier.store import Result, Run, writing
from luthier.training import evaluate

__all__ = ["measure", "trainable_bytes"]

ENDED = ("finished", "stopped")
QUALITY = ("accuracy", "top5", "loss", "samples")
RESULT = (*QUALITY, "parameters", "size_mb", "file_mb", "latency_ms", "latency", "score")


def measure(
    source: Source,
    *,
    overrides: Iterable[str] = (),
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
    latency: bool = True,
) -> Measurement:
    """Measure a run; an exported .onnx file; or a recipe that was not trained, which has no accuracy and so no score.

    A run's figures go into its result.json too, unless overrides changed how they are taken, or they are of another
    step than the one that the result speaks of. Without `latency` the one in result.json stays.
    """
    overrides = list(overrides)
    if is_file(source):
        return measure_file(source, overrides=overrides, data_root=data_root, latency=latency)
    found = _with_overrides(run_or_recipe(source), overrides)
    protocol = found.score if isinstance(found, Recipe) else override(found.recipe, overrides).score
    with open_network(found, checkpoint=checkpoint, data_root=data_root) as network:
        result = _result_of(network)
        row = _structure(network, protocol)
        row = replace(row, **_quality(network, result))
        row = replace(row, **_costs(Subject(network=network), protocol, latency=latency))
    if not latency and result and not overrides:
        row = replace(row, latency_ms=result.latency_ms, latency=result.latency)
    if row.accuracy is not None and row.latency_ms is not None:
        row = replace(row, score=score(row.accuracy, row.size_mb, row.latency_ms, protocol))
    if isinstance(found, Run) and not overrides:
        return _recorded(found, result, row)
    return row


def _with_overrides(found: Run | Recipe, overrides: list[str]) -> Run | Recipe:
    """What a run's network is stands in its recipe: only how it is measured can be changed."""
    if isinstance(found, Recipe):
        return override(found, overrides)
    changed = override(found.recipe, overrides)
    if replace(changed, score=found.recipe.score) != found.recipe:
        raise RecipeError(
            f"Only the fields of [score] can be set for a run, got {', '.join(overrides)}",
            hint="To measure another network, give its recipe in place of the run.",
        )
    return found


def _result_of(network: Network) -> Result | None:
    """The run's result, where it speaks of this very step."""
    result = network.run.result() if network.run else None
    return result if result and result.steps == network.step else None


def _structure(network: Network, protocol: Score) -> Measurement:
    recipe, strategy = network.recipe, network.recipe.strategy
    layers, stored = _layers(network)
    steps = strategy.steps if network.step is None else network.step
    per_epoch = network.description.steps_per_epoch
    return Measurement(
        name=network.name,
        run=str(network.run.path) if network.run else None,
        step=network.step,
        network=recipe.model.name,
        batch_size=recipe.data.batch_size,
        epochs=steps / per_epoch if steps and per_epoch else strategy.epochs,
        learning_rate=strategy.learning_rate,
        schedule=str(strategy.schedule.__struct_config__.tag),
        optimizer=str(strategy.optimizer.__struct_config__.tag),
        parameters=sum(layer.trainable for layer in layers),
        size_mb=sum(stored.trainable.values()) / 1e6,
        protocol=protocol,
        layers=layers,
        sizes=stored,
    )


def _layers(network: Network) -> tuple[tuple[Layer, ...], Sizes]:
    """Of the network as its own engine has it."""
    if network.session.engine == "torch":
        return parameters_by_layer(network.module), sizes(network.module)
    from luthier.measure.cells import cell_sizes, parameters_by_cell

    session: Any = network.session
    own = session.own_parameters()
    return parameters_by_cell(session.network, own), cell_sizes(own)


def trainable_bytes(network: Network) -> int:
    """What the score calls its size."""
    return sum(_layers(network)[1].trainable.values())


def _quality(network: Network, result: Result | None) -> dict[str, Any]:
    """As the result has it, where the run ended with it; a network that was not trained has none."""
    if network.run is None:
        return {}
    if result and result.status in ENDED and result.accuracy is not None:
        return {name: getattr(result, name) for name in QUALITY}
    with network.open_data() as data:
        metrics = asdict(evaluate(network.session.logits, data.eval))
    return {name: metrics[name] for name in QUALITY}


def _costs(subject: Subject, protocol: Score, *, latency: bool) -> dict[str, Any]:
    """A network that cannot be exported has no file; it has a latency in PyTorch nevertheless."""
    costs: dict[str, Any] = {}
    if latency:
        timings, conditions = taken(subject, protocol)
        costs |= {"latency_ms": chosen_ms(timings, protocol), "latency": conditions, "timings": timings}
    try:
        costs |= {"file_mb": len(subject.onnx.data) / 1e6}
    except ExportError as error:
        costs |= {"notes": (f"No file size: {error.sentence}{f' - at {error.at}' if error.at else ''}",)}
    return costs


def _recorded(run: Run, result: Result | None, row: Measurement) -> Measurement:
    """Written into result.json; where that is not possible, the row says so."""
    if result is None:
        return replace(row, notes=(*row.notes, f"Not written to result.json, which does not speak of step {row.step}"))
    measured = {name: value for name in RESULT if (value := getattr(row, name)) is not None}
    try:
        with writing(run.path):
            run.write_result(replace(result, **measured))
    except StoreError as error:
        return replace(row, notes=(*row.notes, f"Not written to result.json: {error.sentence}"))
    return row
