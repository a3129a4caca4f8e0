"""Which engine a recipe means on this machine, and a session of it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from numpy import __version__ as numpy_version

from luthier.engines.busy import sleep_where_busy
from luthier.engines.group import Alone, Group
from luthier.engines.launching import launched
from luthier.engines.protocol import Session
from luthier.errors import MissingPackage
from luthier.recipe import Recipe

__all__ = ["engine_of", "open_group", "open_session"]


def engine_of(recipe: Recipe) -> str:
    """`auto` takes MindSpore where an Ascend device answers, PyTorch elsewhere."""
    if recipe.engine != "auto":
        return recipe.engine
    if recipe.device.startswith("ascend"):
        return "mindspore"
    ascend = any(Path("/dev").glob("davinci[0-9]*"))
    return "mindspore" if ascend and find_spec("mindspore") else "torch"


def open_session(
    recipe: Recipe,
    *,
    shape: tuple[int, int, int],
    num_classes: int,
    training: bool = True,
    group: Group | None = None,
) -> Session:
    """A fresh network of the recipe's seed; without `training` it has no optimizer and cannot step.

    With a `group` its steps are taken together with the other ranks', and it has the same weights as theirs.
    """
    engine = _installed(recipe)
    together = group or Alone()
    if engine == "mindspore":
        return _mindspore(recipe, shape=shape, num_classes=num_classes, training=training, group=together)
    return _torch(recipe, shape=shape, num_classes=num_classes, training=training, group=together)


def open_group(recipe: Recipe) -> Group:
    """The ranks that a launcher started, once all of them are there; it must come before the session."""
    engine, launch = _installed(recipe), launched()
    launch.require(engine)
    if engine == "mindspore" and launch.engine == "mindspore":
        _prepare_mindspore()
        from luthier.engines.mindspore.group import MindSporeGroup

        return MindSporeGroup(launch, recipe.device)
    if launch.ranks == 1:
        return Alone()
    from luthier.engines.torch.group import TorchGroup

    return TorchGroup(launch, recipe.device)


def _installed(recipe: Recipe) -> str:
    engine = engine_of(recipe)
    if find_spec(engine) is None:
        raise MissingPackage(f"The {engine} engine is not installed", hint=f"pip install 'luthier[{engine}]'")
    return engine


def _torch(recipe: Recipe, *, shape: tuple[int, int, int], num_classes: int, training: bool, group: Group) -> Session:
    """PyTorch reads how its threads wait when it is loaded."""
    note = sleep_where_busy()
    from luthier.engines.torch import TorchSession

    session = TorchSession(recipe, shape=shape, num_classes=num_classes, training=training, group=group)
    session.notes = (*session.notes, *((note,) if note else ()))
    return session


def _mindspore(
    recipe: Recipe, *, shape: tuple[int, int, int], num_classes: int, training: bool, group: Group
) -> Session:
    _prepare_mindspore()
    from luthier.engines.mindspore.session import MindSporeSession

    return MindSporeSession(recipe, shape=shape, num_classes=num_classes, training=training, group=group)


def _prepare_mindspore() -> None:
    """MindSpore reads where its messages go, and its library its instruction set, once and early."""
    from luthier.engines.mindspore import cap_where_it_helps, keep_from_terminal

    if int(numpy_version.partition(".")[0]) > 1:
        raise MissingPackage(
            f"MindSpore's operations fail with NumPy {numpy_version}", at="engine", hint="pip install 'numpy<2'"
        )
    keep_from_terminal()
    cap_where_it_helps()
