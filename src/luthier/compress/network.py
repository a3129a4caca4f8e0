"""A network as evaluation uses it: of a run at one of its checkpoints, or of a recipe that was not trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.structs import replace

from luthier.data import DataSet, Description, describe, stated
from luthier.engines import Session, open_session
from luthier.errors import ExportError, MissingData, RecipeError, StoreError, nearest, of_recipe
from luthier.recipe import Recipe, load, shipped
from luthier.store import Run, chosen_checkpoint, load_checkpoint, open_run
from luthier.training import open_recipe_data, require_same_data, start_from

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Network", "Source", "open_network", "run_or_recipe"]

Source = Run | Recipe | Path | str
NAMES = {"mindspore": "MindSpore", "torch": "PyTorch"}


@dataclass(frozen=True, kw_only=True)
class Network:
    """With what must be known of its data; the data itself is opened where it is needed alone."""

    recipe: Recipe
    session: Session
    description: Description
    data_root: Path | str | None = None
    run: Run | None = None
    step: int | None = None  # the checkpoint's
    others: dict[str, Session] = field(default_factory=dict, repr=False)  # the same network on other engines

    @property
    def name(self) -> str:
        """The run's, or the recipe's."""
        return self.run.name if self.run else self.recipe.name

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of an image to be judged; in training they may be smaller."""
        return self.description.eval_shape

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names, in the order of the outputs."""
        return self.description.classes

    def open_data(self, *, as_evaluated: bool = False) -> DataSet:
        """Its data set; close it, or use it in a `with`.

        `as_evaluated` has the training part, too, as evaluation sees images: neither cropped at random nor mixed.
        """
        recipe = self.recipe
        if as_evaluated:
            data_config = replace(recipe.data, train=recipe.data.eval, drop_remainder=False)
            recipe = replace(recipe, data=data_config, strategy=replace(recipe.strategy, mixup=0.0, cutmix=0.0))
        data = open_recipe_data(recipe, self.data_root)
        if self.run:
            known = self.description
            if as_evaluated:  # whose images may have another size, and whose last batch is there, too
                steps = data.described(ranks=known.ranks).steps_per_epoch
                known = replace(known, shape=data.shape, steps_per_epoch=steps)
            require_same_data(known, data)
        return data

    @property
    def is_own(self) -> bool:
        """Whether it is the user's, and so written for one engine alone."""
        return ":" in self.recipe.model.name

    @property
    def module(self) -> nn.Module:
        """The network in PyTorch, in evaluation mode."""
        from luthier.engines.torch import TorchSession

        session = self.on("torch")
        assert isinstance(session, TorchSession)
        module: nn.Module = session.module.eval()
        return module

    def on(self, engine: str) -> Session:
        """The network on an engine, in float32: where it was trained, or on a CPU with the same weights to the bit."""
        plain = engine == "torch" or self.recipe.strategy.precision == "float32"
        if self.session.engine == engine and plain:
            return self.session
        if engine not in self.others:
            session = self.others[engine] = self.fresh(engine)
            session.load({key: value for key, value in self.session.state().items() if key.startswith("model/")})
        return self.others[engine]

    def fresh(self, engine: str) -> Session:
        """The same network in float32 with other weights, to be closed by whoever takes it."""
        strategy, recipe = replace(self.recipe.strategy, precision="float32", loss_scale=1.0), self.recipe
        if engine != self.session.engine:
            if self.is_own:
                raise ExportError(
                    f"{recipe.model.name} is written for {NAMES[self.session.engine]}, "
                    f"and for this it would have to run on {NAMES[engine]}",
                    at="model.name",
                    hint="A network of the zoo is there for both.",
                )
            recipe = replace(recipe, engine=engine, device="cpu", mode="eager")
        other = replace(recipe, strategy=replace(strategy, seed=(strategy.seed + 1) % 2**32))
        return open_session(other, shape=self.description.shape, num_classes=len(self.classes), training=False)


@contextmanager
def open_network(
    source: Source, *, checkpoint: str | int = "last", data_root: Path | str | None = None
) -> Iterator[Network]:
    """Open it, and close its session afterwards; a recipe's network has its first weights.

    A run's checkpoint tells what must be known of the data, so that neither exporting nor predicting needs the files.
    """
    found = run_or_recipe(source)
    recipe = found.recipe if isinstance(found, Run) else found
    saved = load_checkpoint(chosen_checkpoint(found, checkpoint)) if isinstance(found, Run) else None
    told = saved.progress.get("data") if saved else None
    description = convert(told, Description) if told else _described(recipe, data_root)
    with of_recipe(recipe.name):
        session = open_session(recipe, shape=description.shape, num_classes=len(description.classes), training=False)
    try:
        if saved:
            # A checkpoint's weights are the model as evaluation uses it: the moving average where there is one.
            session.load({f"model/{name}": array for name, array in saved.weights.items()})
        else:
            start_from(session, recipe.start)
        network = Network(
            recipe=recipe,
            session=session,
            description=description,
            data_root=data_root,
            run=found if isinstance(found, Run) else None,
            step=saved.step if saved else None,
        )
        try:
            yield network
        finally:
            for other in network.others.values():
                other.close()
    finally:
        session.close()


def _described(recipe: Recipe, data_root: Path | str | None) -> Description:
    known = describe(recipe.data, accumulate=recipe.strategy.accumulate)
    if known:
        return known
    try:
        with open_recipe_data(recipe, data_root) as data:
            return data.description
    except MissingData:
        if told := stated(recipe.data):
            return told
        raise


def run_or_recipe(source: Source) -> Run | Recipe:
    """A run by its folder or its name below ./runs, or a recipe by its name or its file."""
    if isinstance(source, Run | Recipe):
        return source
    path = Path(source)
    if path.suffix == ".toml" or (str(source) in shipped() and not path.exists()):
        return load(path)
    try:
        return open_run(path)
    except StoreError as error:
        if len(path.parts) > 1 or path.exists() or (Path("runs") / path).exists():
            raise
        meant = nearest(str(source), shipped())
        hint = f"Perhaps you meant the recipe '{meant}'." if meant else error.hint
        raise RecipeError(f"'{source}' is neither a run nor a recipe", hint=hint) from None
