"""What a project cannot carry over, by the recipe's own name for it."""

from __future__ import annotations

from collections.abc import Iterator

from luthier.errors import PortError
from luthier.recipe import Muon, Recipe

__all__ = ["SOURCES", "reasons", "refuse"]

SOURCES = ("cifar10", "cifar100", "digits", "fashion-mnist", "folder", "mindrecord", "mnist")


def refuse(recipe: Recipe, place: str) -> None:
    """Raise for the first; what changes neither weights nor losses is not asked about."""
    for field, reason, hint in reasons(recipe):
        raise PortError(f"A project cannot carry over {reason}", at=f"{field} in {place}", hint=hint)


def reasons(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    """Each refused field of the recipe, what it asks for, and a way out."""
    data, strategy = recipe.data, recipe.strategy
    if data.name not in SOURCES:
        yield "data.name", f"the data '{data.name}', whose code is yours", f"Known: {', '.join(SOURCES)}."
    if data.pipeline != "luthier":
        yield "data.pipeline", "MindData's random numbers", 'Set data.pipeline = "luthier": MindSpore runs it too.'
    if data.on_error != "stop":
        yield "data.on_error", "leaving out files that cannot be read", 'Remove them, and set data.on_error = "stop".'
    if isinstance(strategy.optimizer, Muon):
        yield "strategy.optimizer", "Muon", "Known: sgd, momentum, nesterov, adam, adamw."
    if strategy.teacher:
        yield "strategy.teacher", "a teacher's answers in the loss", 'Set strategy.teacher = "".'
    if strategy.sync_batch_norm:
        yield "strategy.sync_batch_norm", "statistics over all ranks", "Set strategy.sync_batch_norm = false."
    if recipe.stop.patience:
        yield "stop.patience", "early stopping", "Set stop.patience = 0, and strategy.epochs to where it stopped."
    if recipe.listeners:
        yield "listeners", f"the listener '{recipe.listeners[0]}', whose code is yours", "Leave it out."
