"""From what the user named to the two sides: a module and a Cell, each with the lines that made its layers."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from luthier.errors import MissingPackage, ProofError
from luthier.proof.places import recording_places
from luthier.zoo import load_object

if TYPE_CHECKING:
    from luthier.proof.mindspore.network import MindSporeCandidate
    from luthier.proof.torch.network import TorchReference

__all__ = ["open_candidate", "open_reference", "open_trainer"]


def open_reference(source: Any, *, name: str = "") -> TorchReference:
    """`file.py:name`, a factory, a class or a module."""
    import torch

    from luthier.proof.torch.network import TorchReference

    with recording_places(torch.nn.Module), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        module = _built(source, "--reference", torch.nn.Module)
    if not isinstance(module, torch.nn.Module):
        raise ProofError(f"Expected a torch.nn.Module, got a {type(module).__name__}", at="--reference")
    return TorchReference(module, name or _name(source, module))


def open_candidate(source: Any) -> MindSporeCandidate:
    """`file.py:name`, a factory, a class or a Cell; MindSpore's settings come before it is loaded."""
    from importlib.util import find_spec

    if find_spec("mindspore") is None:
        raise MissingPackage("MindSpore is not installed", hint="pip install 'luthier[mindspore]'")
    from luthier.engines.mindspore import cap_where_it_helps, keep_from_terminal

    keep_from_terminal()
    cap_where_it_helps()
    import mindspore

    from luthier.proof.mindspore.network import MindSporeCandidate

    with recording_places(mindspore.nn.Cell):
        cell = _built(source, "--candidate", mindspore.nn.Cell)
    if not isinstance(cell, mindspore.nn.Cell):
        raise ProofError(f"Expected a mindspore.nn.Cell, got a {type(cell).__name__}", at="--candidate")
    return MindSporeCandidate(cell, _name(source, cell))


def open_trainer(source: Any, at: str) -> Any:
    """`file.py:Name` of a class or an object; none is none."""
    if source is None:
        return None
    found = load_object(source, at=at, error=ProofError) if isinstance(source, str) else source
    made = found() if inspect.isclass(found) else found
    known = ("batches", "loss", "optimizer", "gradients")
    if not any(hasattr(made, name) for name in known):
        raise ProofError(f"Expected a trainer with any of {', '.join(known)}, got {made!r}", at=at)
    return made


def _built(source: Any, at: str, ready: type) -> Any:
    found = load_object(str(source), at=at, error=ProofError) if isinstance(source, str | Path) else source
    if isinstance(found, ready) or not callable(found):
        return found
    try:
        needed = [
            item.name
            for item in inspect.signature(found).parameters.values()
            if item.default is item.empty
            and item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
        ]
    except (TypeError, ValueError):
        needed = []
    if needed:
        raise ProofError(
            f"{getattr(found, '__name__', found)} needs the argument '{needed[0]}'",
            at=at,
            hint="Name a function without arguments that calls it.",
        )
    try:
        return found()
    except Exception as fault:  # whatever the user's code raises
        raise ProofError(
            f"{getattr(found, '__name__', found)} raised {type(fault).__name__}: {_first_line(fault)}", at=at
        ) from fault


def _first_line(fault: Exception) -> str:
    return next(iter(str(fault).strip().splitlines()), "")


def _name(source: Any, made: Any) -> str:
    return str(source) if isinstance(source, str | Path) else type(made).__name__
