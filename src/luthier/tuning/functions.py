"""The three functions that MoXing's search takes in place of a recipe: data, model and optimizer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from luthier.data import Source, arrays
from luthier.errors import RecipeError
from luthier.recipe import ParamSpec, Recipe, override

__all__ = ["optimizer_overrides", "own_model", "own_source"]

WANTED = "a Source, a tuple of images, labels, eval_images and eval_labels, or by run_mode images and labels"


def own_model(recipe: Recipe, model_fn: Callable[..., Any]) -> Recipe:
    """The recipe with the function in place of its network: by file and name, so that a worker or a resume finds it."""
    name = f"{_file_of(model_fn)}:{model_fn.__qualname__}"
    return override(recipe, [f"model.name={name}", "model.options={}"])


def _file_of(function: Callable[..., Any]) -> Path:
    file = inspect.getsourcefile(inspect.unwrap(function))
    if file is None or not Path(file).is_file() or not function.__qualname__.isidentifier():
        raise RecipeError(
            f"Expected a function at the top level of a file, got '{function.__qualname__}'",
            at="model_fn",
            hint="Move it out of the function or notebook that it stands in: a resumed run looks it up by its file.",
        )
    return Path(file).resolve()


def own_source(input_fn: Callable[..., Any], *, auto_batch: bool) -> Source:
    """Called once, or where it takes `run_mode` once for "train" and once for "eval".

    With `auto_batch` it gives single samples, an image and a label each; without, whole arrays.
    """
    if "run_mode" not in inspect.signature(input_fn).parameters:
        made = input_fn()
    else:
        made = (*_pair(input_fn(run_mode="train"), auto_batch), *_pair(input_fn(run_mode="eval"), auto_batch))
    if isinstance(made, Source):
        return made
    if isinstance(made, tuple) and len(made) == 4:
        return arrays(*made, name=getattr(input_fn, "__name__", "input_fn"))
    raise RecipeError(f"Expected {WANTED}, got {type(made).__name__}", at="input_fn")


def _pair(made: Any, auto_batch: bool) -> tuple[Any, Any]:
    if auto_batch and isinstance(made, Iterable) and not isinstance(made, tuple):
        samples = list(made)
        if not samples:
            raise RecipeError("Expected samples, got none", at="input_fn")
        images, labels = zip(*samples, strict=True)
        return np.stack(images), np.asarray(labels)
    if isinstance(made, tuple) and len(made) == 2:
        return made
    raise RecipeError(
        f"Expected {'an iterable of samples' if auto_batch else 'a pair of images and labels'}, "
        f"got {type(made).__name__}",
        at="input_fn",
    )


def optimizer_overrides(optimizer_fn: Callable[..., Any], spec: ParamSpec) -> list[str]:
    """What the function makes of the values: an optimizer of `luthier.recipe`, or the mapping that means one."""
    made = msgspec.to_builtins(optimizer_fn(param_spec=spec))
    if not isinstance(made, dict) or "name" not in made:
        raise RecipeError(
            f"Expected an optimizer such as luthier.recipe.Momentum(momentum=0.9), got {type(made).__name__}",
            at="optimizer_fn",
        )
    return ParamSpec({"strategy.optimizer": made}).overrides()
