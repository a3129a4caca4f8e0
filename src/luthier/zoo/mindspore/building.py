"""From a recipe's `model` to a MindSpore network."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
from mindspore import nn

from luthier.errors import ModelError, unknown
from luthier.recipe import Model
from luthier.strategy import generators_kept, seed_generators
from luthier.zoo.loading import FAULTS, importable, load_object, own_frames, raised, split
from luthier.zoo.mindspore.initializing import draw_again, initialize
from luthier.zoo.options import arguments
from luthier.zoo.registry import Factory, indexed

__all__ = ["build", "factory_of"]

HERE = Path(__file__).parent


def build(model: Model, *, shape: tuple[int, int, int], num_classes: int, seed: int = 1) -> nn.Cell:
    """The network with its first weights, for a shipped one the PyTorch zoo's numbers; `shape` is (H, W, C)."""
    given = {"num_classes": num_classes, "shape": shape}
    if ":" in model.name:
        cell = _own(model, given, seed)
        draw_again(cell, model, np.random.default_rng(seed))
        return cell
    factory = factory_of(model.name)
    cell = factory(**arguments(factory, model.name, model.options, given))
    initialize(cell, model, seed)
    return cell


def factory_of(name: str) -> Factory:
    """The factory of a shipped network's Cell."""
    files = indexed(HERE)
    if name not in files:
        sentence, hint = unknown("MindSpore network", name, files)
        raise ModelError(sentence, at="model.name", hint=f"{hint} Or give your own, as path/to/file.py:factory.")
    factory: Factory = getattr(import_module(f"luthier.zoo.mindspore.{files[name]}"), name)
    return factory


def _own(model: Model, given: dict[str, Any], seed: int) -> nn.Cell:
    """Call the user's factory under the seed; what it raises stays readable as the cause, from the user's file on."""
    path, name = split(model.name)
    factory = load_object(model.name)
    if not callable(factory) or isinstance(factory, nn.Cell):
        raise ModelError(
            f"Expected a factory or a class, '{name}' in {path} is a {type(factory).__name__}", at="model.name"
        )
    keywords = arguments(factory, name, model.options, given)
    try:
        with generators_kept(), importable(path.parent):
            seed_generators(seed)
            mindspore.set_seed(seed)  # NumPy's too
            cell = factory(**keywords)
    except FAULTS as fault:  # whatever the user's code raises
        cause = fault.with_traceback(own_frames(fault.__traceback__, path))
        raise ModelError(f"{name} in {path} raised {raised(fault)}", at="model.name") from cause
    if not isinstance(cell, nn.Cell):
        raise ModelError(
            f"{name} in {path} gave a {type(cell).__name__}, expected a mindspore.nn.Cell",
            at="model.name",
            hint='A torch.nn.Module trains with engine = "torch".',
        )
    return cell
