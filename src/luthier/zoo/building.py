"""From a recipe's `model` to a PyTorch network."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.strategy import generators_kept, seed_generators
from luthier.zoo.initializing import initialize
from luthier.zoo.loading import FAULTS, importable, load_object, own_frames, raised, split
from luthier.zoo.options import arguments
from luthier.zoo.registry import factory_of

if TYPE_CHECKING:
    from torch import nn

__all__ = ["build", "check_options", "default_options"]


def build(model: Model, *, shape: tuple[int, int, int], num_classes: int, seed: int = 1) -> nn.Module:
    """The network with its first weights, which depend on the recipe and the seed alone; `shape` is (H, W, C).

    PyTorch's own generator, Python's and NumPy's are left as they were.
    """
    import torch

    given = {"num_classes": num_classes, "shape": shape}
    with torch.random.fork_rng(devices=[]), generators_kept():
        torch.default_generator.manual_seed(seed)
        seed_generators(seed)
        module = _own(model, given) if ":" in model.name else _shipped(model, given)
    initialize(module, model, np.random.default_rng(seed))
    return module


def check_options(model: Model, *, shape: tuple[int, int, int], num_classes: int) -> None:
    """Refuse an option that the network does not have, or a value that it cannot take, before anything is built."""
    given = {"num_classes": num_classes, "shape": shape}
    factory = load_object(model.name) if ":" in model.name else factory_of(model.name)
    if callable(factory):
        arguments(factory, model.name, model.options, given)


def default_options(model: Model) -> dict[str, Any]:
    """What the network takes for the options that a recipe leaves open."""
    factory = load_object(model.name) if ":" in model.name else factory_of(model.name)
    parameters = inspect.signature(factory).parameters.values() if callable(factory) else ()
    return {item.name: item.default for item in parameters if item.default not in (item.empty, None)}


def _shipped(model: Model, given: dict[str, Any]) -> nn.Module:
    factory = factory_of(model.name)
    keywords = arguments(factory, model.name, model.options, given)
    try:
        module: nn.Module = factory(**keywords)
    except (MemoryError, RuntimeError) as fault:  # of PyTorch's allocator the latter
        if isinstance(fault, RuntimeError) and "allocate" not in str(fault):
            raise
        raise ModelError(f"{model.name} with these options does not fit into memory", at="model.options") from None
    return module


def _own(model: Model, given: dict[str, Any]) -> nn.Module:
    """Call the user's factory; what it raises stays readable as the cause, from the user's file on."""
    from torch import nn

    path, name = split(model.name)
    factory = load_object(model.name)
    if not callable(factory) or isinstance(factory, nn.Module):
        raise ModelError(
            f"Expected a factory or a class, '{name}' in {path} is a {type(factory).__name__}", at="model.name"
        )
    keywords = arguments(factory, name, model.options, given)
    try:
        with importable(path.parent):
            module = factory(**keywords)
            if isinstance(module, nn.Module):
                _materialize(module, given["shape"])
    except FAULTS as fault:  # whatever the user's code raises
        cause = fault.with_traceback(own_frames(fault.__traceback__, path))
        raise ModelError(f"{name} in {path} raised {raised(fault)}", at="model.name") from cause
    if not isinstance(module, nn.Module):
        raise ModelError(
            f"{name} in {path} gave a {type(module).__name__}, expected a torch.nn.Module", at="model.name"
        )
    if lazy := _lazy(module):
        raise ModelError(
            f"{name} in {path} has layers whose sizes no image tells: {', '.join(lazy)}",
            at="model.name",
            hint="Give such a layer its size, or leave it out.",
        )
    return module


def _materialize(module: nn.Module, shape: tuple[int, int, int]) -> None:
    """A lazy layer takes its size, and draws its weights under the seed, when it sees the first images."""
    import torch

    if _lazy(module):
        height, width, channels = shape
        training = module.training
        with torch.no_grad():
            module.eval()(torch.zeros(2, channels, height, width))
        module.train(training)


def _lazy(module: nn.Module) -> list[str]:
    from torch.nn.parameter import is_lazy

    return [name for name, value in module.named_parameters() if is_lazy(value)]
