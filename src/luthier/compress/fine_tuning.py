"""A run pruned, and trained on as a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace
from safetensors.numpy import save

from luthier.compress.network import open_network
from luthier.compress.pruning import pruned
from luthier.errors import RecipeError, TrainingError
from luthier.recipe import Compress, Cosine, Recipe, Start
from luthier.store import Run, make_place, open_run, replace_file, runs
from luthier.training import Listener, has_ended, resume, train

__all__ = ["fine_tuned"]

WEIGHTS = "weights.safetensors"


def fine_tuned(
    run: Run,
    *,
    checkpoint: str | int,
    folder: Path,
    config: Compress,
    data_root: Path | str | None = None,
    listeners: Callable[[], Iterable[Listener]] = list,
) -> Run:
    """In the folder: the pruned weights, and the run that starts from them; one that is there already goes on."""
    with open_network(run, checkpoint=checkpoint, data_root=data_root) as network:
        weights = {k.removeprefix("model/"): a for k, a in network.session.state().items() if k.startswith("model/")}
        model, arrays = pruned(run.recipe.model, weights, config)
        step = network.step
    data = save(arrays)
    path = folder / WEIGHTS
    start = Start(path=str(path.resolve()), sha256=sha256(data).hexdigest())
    recipe = _recipe(replace(run.recipe, model=model, start=start), config)
    if config.tune_taught:
        taught = {"teacher": str(run.path.resolve()), "teacher_checkpoint": step, "teacher_sha256": ""}
        recipe = replace(recipe, strategy=replace(recipe.strategy, **taught))
    begun = runs(folder) if folder.is_dir() else []
    if begun:
        done = resume(_same(begun[-1], recipe, folder), data_root=data_root, listeners=listeners())
    else:
        make_place(path, WEIGHTS)
        replace_file(path, data)
        done = train(recipe, out=folder, data_root=data_root, listeners=listeners(), final_evaluation=False)
    if not has_ended(done):
        raise TrainingError(
            f"The training after the pruning was interrupted, in {done.name}",
            hint="The same command goes on with it.",
        )
    return open_run(done.path)


def _recipe(recipe: Recipe, config: Compress) -> Recipe:
    """A few epochs from a lower rate down to nothing, whatever the schedule was."""
    strategy = replace(
        recipe.strategy,
        epochs=config.tune_epochs,
        steps=0,
        learning_rate=recipe.strategy.learning_rate * config.tune_rate,
        schedule=Cosine(),
    )
    return replace(recipe, name=f"{recipe.name}-pruned", strategy=strategy, compress=config, space={})


def _same(begun: Run, recipe: Recipe, folder: Path) -> Run:
    """The training that is there is this one, or the folder is another's."""
    if _plain(begun.recipe) == _plain(recipe):
        return begun
    raise RecipeError(
        f"{begun.name} in this folder was pruned or trained otherwise than is asked now",
        at=str(folder),
        hint="Take another folder, or remove this one.",
    )


def _plain(recipe: Recipe) -> Recipe:
    """Without what the run found out for itself; of `compress` only what came of it counts."""
    strategy = replace(recipe.strategy, teacher_sha256="")
    start = Start(path="-", sha256=recipe.start.sha256)
    return replace(recipe, start=start, strategy=strategy, compress=Compress())
